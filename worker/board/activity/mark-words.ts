// The marks of the history, as the page and the help of `history` name them: what stands out. No
// schema, since the page loads this.

export const MARK_WORDS = {
  deleted_while_open: 'deleted while open',
  reopened: 'opened again',
  unclaimed: 'closed without a claim',
} as const

export type Mark = keyof typeof MARK_WORDS
