// Rows that the edge could not read: they are shown, and nothing is made of them. Pure.

import type { Listed, Unreadable } from '../../../worker/payments/queries/queries.ts'

export const isUnreadable = <Item extends object>(row: Listed<Item>): row is Unreadable =>
  'invalid' in row

export const isReadable = <Item extends object>(row: Listed<Item>): row is Item =>
  !isUnreadable(row)
