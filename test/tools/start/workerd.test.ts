import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { readWorkerSettings } from '../../../tools/start/workerd.ts'

describe('the settings shared with the deployed Worker', () => {
  it("are those that wrangler's own reader finds in the project's file", async () => {
    const ours = readWorkerSettings(await readFile('wrangler.toml', 'utf8'))
    const theirs = unstable_readConfig({ config: 'wrangler.toml' })
    expect(theirs.main?.endsWith(ours.main)).toBe(true)
    expect(theirs).toMatchObject({ ...ours, main: theirs.main })
  })

  it.each([
    ['no date', 'main = "w.ts"\n', 'compatibility_date'],
    ['a variable that is a table', '[vars]\nA = { b = "c" }\n', 'vars.A'],
  ])('are refused with %s, by name', (_, toml, name) => {
    expect(() => readWorkerSettings(toml)).toThrow(name)
  })
})
