import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { unstable_readConfig } from 'wrangler'
import { readWorkerSettings, TomlError } from '../../local/wrangler-toml.ts'

const TOP = 'main = "w.ts"\ncompatibility_date = "2026-01-01"\n'

describe('the settings shared with the deployed Worker', () => {
  it("are those that wrangler's own reader finds in the project's file", async () => {
    const ours = readWorkerSettings(await readFile('wrangler.toml', 'utf8'))
    const theirs = unstable_readConfig({ config: 'wrangler.toml' })
    expect(theirs.main?.endsWith(ours.main)).toBe(true)
    expect(ours.compatibilityDate).toBe(theirs.compatibility_date)
    expect(ours.compatibilityFlags).toEqual(theirs.compatibility_flags)
    expect(ours.vars).toEqual(theirs.vars)
    expect(ours.assets).toBe(theirs.assets?.binding)
    expect(ours.objects).toEqual(
      theirs.durable_objects.bindings.map((bound: { name: string; class_name: string }) => ({
        binding: bound.name,
        className: bound.class_name,
      })),
    )
  })

  it('may be lists over several lines, beside comments and tables that are not used here', () => {
    const settings = readWorkerSettings(`${TOP}
compatibility_flags = [ # why
  "a", # "not this"
  'b#c',
]
workers_dev = false
limits = { cpu_ms = 1 }
[observability]
enabled = true
head_sampling_rate = 0.5
[[durable_objects.bindings]]
name = "ONE"
class_name = "First" # hash "in" a comment
[assets]
binding = "FILES"
directory = "here" # and not there
run_worker_first = true
[triggers]
crons = ["* * * * *"]
[[durable_objects.bindings]]
class_name = "Second"
name = "TWO"
[vars]
WORDS = "say \\"it\\" # loud"
`)
    expect(settings).toEqual({
      main: 'w.ts',
      compatibilityDate: '2026-01-01',
      compatibilityFlags: ['a', 'b#c'],
      objects: [
        { binding: 'ONE', className: 'First' },
        { binding: 'TWO', className: 'Second' },
      ],
      vars: { WORDS: 'say "it" # loud' },
      assets: 'FILES',
    })
  })

  it.each([
    ['no date', 'main = "w.ts"\n'],
    ['a date that is not text', 'main = "w.ts"\ncompatibility_date = 2026-01-01\n'],
    ['a list that never ends', `${TOP}compatibility_flags = [\n"a",\n`],
    ['a variable that is a table', `${TOP}[vars]\nA = { b = "c" }\n`],
  ])('are refused where they hold %s, never guessed', (_, toml) => {
    expect(() => readWorkerSettings(toml)).toThrow(TomlError)
  })
})
