// A row of a list, readable or not.

/**
 * What a list shows for an invalid row, such as one with an impossible time: only this row fails,
 * and the list shows that it exists.
 */
export interface Unreadable {
  id: string
  code: 'unreadable'
  /** A sentence that says what is invalid. */
  invalid: string
}

export type Listed<Item> = Item | Unreadable
