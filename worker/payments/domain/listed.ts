// A row of a list, readable or not.

import * as z from 'zod'

export const unreadableSchema = z
  .object({
    id: z.string(),
    code: z.literal('unreadable'),
    invalid: z.string().describe('A sentence that says what is invalid.'),
  })
  .describe(
    'What a list shows for an invalid row, such as one with an impossible time: only this row ' +
      'fails, and the list shows that it exists.',
  )

export type Unreadable = z.infer<typeof unreadableSchema>

export type Listed<Item> = Item | Unreadable

/** A list of such rows. */
export const listedSchema = <Item extends z.ZodType>(item: Item) =>
  z.array(z.union([item, unreadableSchema]))
