// Addresses that a gateway names. Pure.

/** Whether a link of it leads to a page, and does nothing else. */
export const isWeb = (url: string | undefined): url is string => /^https?:\/\//i.test(url ?? '')
