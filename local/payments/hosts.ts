// Which addresses are on this machine, and which can be read on the way. Pure.

export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)

/** A secret may be sent there. */
export const isPrivate = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || isLoopback(hostname)
