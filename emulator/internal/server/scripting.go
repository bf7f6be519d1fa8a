package server

import "github.com/fakecluster/fakecluster/emulator/internal/command"

type scripts struct{}

func (s *scripts) init(n *Node)       {}
func (s *scripts) interrupt()         {}
func (s *scripts) count() int         { return 0 }
func (s *scripts) functionCount() int { return 0 }
func (s *scripts) libraryCount() int  { return 0 }

var scriptingCommands = map[string]command.Handler{}
