// Package text prints results: tables for terminals, Markdown and CSV, and plots of characters.
package text
