//go:build !js

package play

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// plotModule is the library that draws charts.
const plotModule = "gonum.org/v1/plot"

// liberation is the file of plotModule that lists its fonts, with those of the charts alone.
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

// lean writes a go.mod into a folder, to build with, and returns its path. It replaces plotModule by a copy without what
// a page has no use for: LaTeX, formats other than SVG, and fonts of no chart. Nothing else keeps the linker from taking
// them in, 3 MB gzipped.
func lean(ctx context.Context, folder string) (file string, err error) {
	module, err := goCommand(ctx, "list", "-m", "-f", "{{.Dir}}", plotModule)
	if err != nil {
		return "", err
	}
	own, err := goCommand(ctx, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	requirements, err := os.ReadFile(own)
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(filepath.Dir(own), "go.sum"))
	if err != nil {
		return "", err
	}
	plot := filepath.Join(folder, "plot")
	if err := os.CopyFS(plot, os.DirFS(module)); err != nil {
		return "", err
	}
	file = filepath.Join(folder, "go.mod")
	requirements = fmt.Appendf(requirements, "\nreplace %s => %q\n", plotModule, plot)
	return file, errors.Join(
		os.Remove(filepath.Join(plot, "vgall.go")),
		os.Remove(filepath.Join(plot, "text", "latex.go")),
		os.WriteFile(filepath.Join(plot, "font", "liberation", "liberation.go"), []byte(liberation), 0o666),
		os.WriteFile(file, requirements, 0o666),
		os.WriteFile(filepath.Join(folder, "go.sum"), sums, 0o666))
}
