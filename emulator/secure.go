package emulator

import "crypto/tls"

// TLS makes the nodes speak TLS, and nothing else, where they listen over TCP.
// In process they are reached without it.
func TLS(config *tls.Config) Option {
	return func(o *options) error {
		if config == nil || len(config.Certificates) == 0 && config.GetCertificate == nil {
			return badOption("TLS needs a certificate")
		}
		o.tls = config.Clone()
		return nil
	}
}

// Users gives all nodes the users of an ACL file: a line per user, "user alice on
// >password ~a:* +get". The user default, unless it is one of them, is that of
// Password.
func Users(aclFile string) Option {
	return func(o *options) error {
		o.users = aclFile
		return nil
	}
}

// UsersFile is Users with the file's name, as aclfile does: nodes read it when
// they start and at ACL LOAD, and ACL SAVE writes it. It is the same file for all:
// what one saves the others know once they load it.
func UsersFile(name string) Option {
	return func(o *options) error {
		o.aclFile = name
		return nil
	}
}
