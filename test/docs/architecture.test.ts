// What docs/architecture.md quotes of the code stands in the file that it names.

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** A step of the walk: the files that it names, and what it quotes. */
const steps = [
  ...readFileSync('docs/architecture.md', 'utf8').matchAll(
    /^\d+\. ((?:(?!^\d+\. )[\s\S])*?)^ +```ts\n([\s\S]*?)^ +```$/gm,
  ),
].map(([, sentences = '', quoted = '']) => ({
  file: /`(worker\/[\w./-]+\.ts)`/.exec(sentences)?.[1] ?? '',
  quoted,
}))

/** Apart from how far each line is indented. */
const linesOf = (text: string) => text.trim().replace(/\n\s*/g, '\n')

it('quotes ten places on the way of a charge, each as its file has it', () => {
  expect(steps).toHaveLength(10)
  const wrong = steps.filter(
    ({ file, quoted }) => !linesOf(readFileSync(file, 'utf8')).includes(linesOf(quoted)),
  )
  expect(wrong).toEqual([])
})
