// A list of facts: names and values. One without a value is omitted.

import type { ComponentChildren } from 'preact'

export type Fact = readonly [name: string, value: ComponentChildren]

export function Facts({ class: className, of }: { class: string; of: readonly Fact[] }) {
  return (
    <dl class={className}>
      {/* Two facts may have one name: a payment's metadata are any. */}
      {of.map(
        ([name, value], at) =>
          !EMPTY.includes(value) && (
            <div key={at}>
              <dt>{name}</dt> <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

const EMPTY: readonly unknown[] = [undefined, null, false, '']
