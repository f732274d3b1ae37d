import { expect, test } from 'vitest'
import { createProgress } from '../../sidecar/open-sidecar.ts'

test('a large sync is one line that is written over, and cleared at its end', () => {
  let now = 0
  let shown = ''
  const progress = createProgress(
    (text) => {
      shown += text
    },
    () => now,
  )
  progress.update('sent', 100, 1_000)
  progress.update('sent', 101, 1_000)
  now += 200
  progress.update('sent', 200, 1_000)
  progress.update('sent', 1_000, 1_000)
  expect(shown).toBe('\r\x1b[Ksent 100 of 1000 (10 %)\r\x1b[Ksent 200 of 1000 (20 %)\r\x1b[K')
})

test('a small one shows nothing', () => {
  const progress = createProgress((text) => expect.fail(text))
  progress.update('read', 1, 400)
  progress.update('read', 400, 400)
  progress.end()
})
