// One line of a list of facts: name and value.

import type { ComponentChildren } from 'preact'

interface FactProps {
  name: string
  /** The line is omitted if this is empty. */
  children: ComponentChildren
}

export function Fact({ name, children }: FactProps) {
  if (EMPTY.includes(children)) return null
  return (
    <div>
      <dt>{name}</dt> <dd>{children}</dd>
    </div>
  )
}

const EMPTY: readonly unknown[] = [undefined, null, false, '']
