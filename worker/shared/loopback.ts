// Which addresses are this machine itself: what is sent there crosses no network. Pure.

/** `hostname` as `URL` gives it. */
export const isLoopback = (hostname: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)

/** A secret may be sent there: nobody on the way can read it. */
export const isPrivate = ({ protocol, hostname }: URL): boolean =>
  protocol === 'https:' || isLoopback(hostname)
