import { expect, it } from 'vitest'
import { colorOf } from '../../../../console/board/detail/colors.ts'

it.each([
  ['pass', 'go'],
  ['FAILED', 'stop'],
  ['timed out', 'stop'],
  ['skipped', 'soft'],
  [undefined, 'soft'],
])('a result of %j is shown in the colour %j', (result, tone) => {
  expect(colorOf(result)).toBe(tone)
})
