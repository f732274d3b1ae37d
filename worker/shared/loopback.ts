// Addresses of this machine itself, whose requests cross no network, and which URLs a secret may go
// to. Pure.

/** `hostname` is that of a `URL`, which has normalised it. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/** Whether a secret may be sent to this URL: it must not be readable on the network. */
export const isSafeForSecrets = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || isLoopback(hostname)
