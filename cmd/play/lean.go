//go:build !js

package play

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// plotModule is the library that draws charts.
const plotModule = "gonum.org/v1/plot"

// liberation is the source of plotModule's list of fonts, reduced to those of the charts.
const liberation = `package liberation

import (
	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	stdfnt "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

func Collection() font.Collection {
	regular, bold := face(liberationsansregular.TTF), face(liberationsansbold.TTF)
	bold.Font.Weight = stdfnt.WeightBold
	legend := regular // of a plot, which is empty, is measured all the same
	legend.Font.Variant = "Serif"
	return font.Collection{regular, bold, legend}
}

func face(ttf []byte) font.Face {
	f, err := opentype.Parse(ttf)
	if err != nil {
		panic(err)
	}
	return font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans"}, Face: f}
}
`

// lean writes a go.work into a folder, to build with, and returns its path. It replaces plotModule by a copy without
// LaTeX, formats other than SVG, and fonts of no chart, which the linker would otherwise include, 3 MB gzipped. The
// copy's path, which the engine contains, is relative, and so always the same.
func lean(ctx context.Context, folder string) (file string, err error) {
	module, err := goCommand(ctx, "off", "list", "-m", "-f", "{{.Dir}}", plotModule)
	if err != nil {
		return "", err
	}
	own, err := goCommand(ctx, "off", "list", "-m", "-f", "go {{.GoVersion}}\nuse {{printf `%q` .Dir}}")
	if err != nil {
		return "", err
	}
	plot := filepath.Join(folder, "plot")
	if err := os.CopyFS(plot, os.DirFS(module)); err != nil {
		return "", err
	}
	file = filepath.Join(folder, "go.work")
	own += "\nreplace " + plotModule + " => ./plot\n"
	return file, errors.Join(
		os.Remove(filepath.Join(plot, "vgall.go")),
		os.Remove(filepath.Join(plot, "text", "latex.go")),
		os.WriteFile(filepath.Join(plot, "font", "liberation", "liberation.go"), []byte(liberation), 0o666),
		os.WriteFile(file, []byte(own), 0o666))
}
