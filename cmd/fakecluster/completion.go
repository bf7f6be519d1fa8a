package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/fakecluster/fakecluster/emulator/control"
)

// Shells ask the program itself what may come next: the scripts they are given
// are a few lines that call it with completeCommand and what has been typed.
// So there is one list of commands and flags, kong's.

// completeCommand is the hidden command that the scripts call.
const completeCommand = "__complete"

// completion is the command that prints the script for a shell.
type completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Shell to complete in: ${enum}."`
}

// Help is what kong adds to --help.
func (c *completion) Help() string {
	return `Put the line for your shell where it reads its settings:

  bash   ~/.bashrc                    source <(fakecluster completion bash)
  zsh    ~/.zshrc, behind compinit    source <(fakecluster completion zsh)
  fish   ~/.config/fish/config.fish   fakecluster completion fish | source`
}

//go:embed completion/bash
var bashScript string

//go:embed completion/zsh
var zshScript string

//go:embed completion/fish
var fishScript string

func (c *completion) run(_ context.Context, stdout, _ io.Writer) error {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[c.Shell]
	_, err := io.WriteString(stdout, script)
	return err
}

// complete is the hidden command behind the scripts. Its last word is the one
// being typed, "" when none has been begun.
type complete struct {
	Words []string `arg:"" optional:"" passthrough:""`
	model *kong.Node
}

func (c *complete) run(_ context.Context, stdout, _ io.Writer) error {
	words := c.Words
	if len(words) == 0 {
		words = []string{""}
	}
	for _, s := range suggest(c.model, words) {
		fmt.Fprintf(stdout, "%s\t%s\n", s.word, s.help)
	}
	return nil
}

// suggestion is a word that may come next.
type suggestion struct{ word, help string }

// suggest lists what the last word may be made. Nothing means that it is for the
// shell to know, such as a file.
func suggest(root *kong.Node, words []string) []suggestion {
	typed, before := words[len(words)-1], words[:len(words)-1]
	if typed == "=" {
		typed = "" // bash takes "--flag=" for two words
	}
	node, arguments, pending := follow(root, before)
	var all []suggestion
	if name, _, found := strings.Cut(typed, "="); found && strings.HasPrefix(typed, "--") {
		for _, s := range values(flagOf(node, name)) {
			all = append(all, suggestion{name + "=" + s.word, s.help})
		}
	} else if pending != nil {
		all = values(pending)
	} else if strings.HasPrefix(typed, "-") {
		all = flags(node)
	} else {
		all = positions(node, arguments)
	}
	return slices.DeleteFunc(all, func(s suggestion) bool { return !strings.HasPrefix(s.word, typed) })
}

// follow walks through the words before the last: to the command they name, the
// number of its arguments, and the flag that the last word is the value of.
func follow(root *kong.Node, words []string) (node *kong.Node, arguments int, pending *kong.Flag) {
	node = root
	for _, word := range words {
		switch {
		case pending != nil:
			if word != "=" {
				pending = nil
			}
		case strings.HasPrefix(word, "-"):
			if f := flagOf(node, word); f != nil && !f.IsBool() && !f.IsCounter() {
				pending = f
			}
		default:
			if i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); i >= 0 {
				node = node.Children[i]
			} else {
				arguments++
			}
		}
	}
	return node, arguments, pending
}

// flagsOf are the flags that may follow a command, those of the default command
// included.
func flagsOf(node *kong.Node) []*kong.Flag {
	var all []*kong.Flag
	for _, group := range node.AllFlags(true) {
		all = append(all, group...)
	}
	if node.DefaultCmd != nil {
		all = append(all, node.DefaultCmd.Flags...)
	}
	return all
}

func flagOf(node *kong.Node, word string) *kong.Flag {
	for _, f := range flagsOf(node) {
		if "--"+f.Name == word {
			return f
		}
	}
	return nil
}

func flags(node *kong.Node) []suggestion {
	var all []suggestion
	for _, f := range flagsOf(node) {
		all = append(all, suggestion{"--" + f.Name, f.Help})
		if f.Tag.Negatable != "" {
			all = append(all, suggestion{"--no-" + f.Name, "Do not: " + f.Help})
		}
	}
	return all
}

// values are what a flag can be set to.
func values(f *kong.Flag) []suggestion {
	if f == nil {
		return nil
	}
	return oneOf(f.Enum)
}

// oneOf are the values of an enumeration, none if it is empty.
func oneOf(enum string) []suggestion {
	var all []suggestion
	for _, value := range strings.FieldsFunc(enum, func(r rune) bool { return r == ',' }) {
		all = append(all, suggestion{word: value})
	}
	return all
}

// positions are the subcommands of a command, or its next argument.
func positions(node *kong.Node, arguments int) []suggestion {
	var all []suggestion
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, suggestion{child.Name, child.Help})
		}
	}
	switch {
	case arguments > 0:
	case node.Name == "ctl":
		all = verbs()
	case len(node.Positional) > 0:
		all = append(all, oneOf(node.Positional[0].Enum)...)
	}
	return all
}

// verbs are those of the control language, from its help.
func verbs() []suggestion {
	list, _, _ := strings.Cut(control.Help(), "\n\n")
	var all []suggestion
	for line := range strings.Lines(list) {
		usage, help, _ := strings.Cut(line, "  ")
		name, _, _ := strings.Cut(usage, " ")
		all = append(all, suggestion{name, strings.TrimSpace(help)})
	}
	return all
}
