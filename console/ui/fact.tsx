// One line of a list of facts: its name and what is known.

import type { ComponentChildren } from 'preact'

interface FactProps {
  name: string
  /** Nothing (also of an empty text): the line is left out. */
  children: ComponentChildren
}

export function Fact({ name, children }: FactProps) {
  if (NOTHING.includes(children)) return null
  return (
    <div>
      <dt>{name}</dt> <dd>{children}</dd>
    </div>
  )
}

const NOTHING: readonly unknown[] = [undefined, null, false, '']
