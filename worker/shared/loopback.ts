// Addresses of this machine itself, whose requests cross no network, and which URLs a secret may go
// to. Pure.

/** `hostname` is that of a `URL`, which has normalised it. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/**
 * Whether a request may end at this machine. Not each system knows the names below `localhost`, and
 * not each takes 0.0.0.0 for itself: a secret is not safe there.
 */
export const mayBeLoopback = (hostname: string): boolean =>
  isLoopback(hostname) ||
  /^(0(\.\d+){3}|\[::\]|\[::ffff:(7f[\da-f]{2}|0):[\da-f]+\]|(.+\.)?localhost\.?)$/.test(hostname)

/** Whether nobody else reaches an edge that listens at `HOST`. Behind a proxy others do. */
export const isForThisMachine = (host: string, publicUrl: string | undefined): boolean =>
  isLoopback(host) && (!publicUrl || isLoopback(URL.parse(publicUrl)?.hostname ?? ''))

/** Whether a secret may be sent to this URL: it must not be readable on the network. */
export const isSafeForSecrets = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || isLoopback(hostname)
