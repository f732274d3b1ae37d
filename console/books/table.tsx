// A table of the books. On a narrow screen it is moved sideways, by keys, too.

import type { ComponentChildren } from 'preact'
import { type Column, TableHead } from '../ui/elements.tsx'

interface TableProps {
  /** What it is, for screen readers; `isShown`: for everybody. */
  name: string
  isShown?: true
  columns: readonly Column[]
  foot?: ComponentChildren
  /** Its rows. */
  children: ComponentChildren
}

export const Table = ({ name, isShown, columns, foot, children }: TableProps) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: fingers move it, and so do arrows.
  <section class="table-scroll" aria-label={name} tabIndex={0}>
    <table class="books">
      <caption class={isShown ? undefined : 'visually-hidden'}>{name}</caption>
      <TableHead of={columns} />
      <tbody>{children}</tbody>
      {foot && <tfoot>{foot}</tfoot>}
    </table>
  </section>
)
