import { expect, it, onTestFinished, vi } from 'vitest'
import { FakeClock } from '../../../libraries/testing/fake-clock.ts'
import { consoleLog, createLog, rareLog } from '../../../worker/shared/log.ts'

function logged(fields: Record<string, unknown>): Record<string, unknown> {
  const write = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  onTestFinished(() => {
    write.mockRestore()
  })
  consoleLog('warn', 'test.event', fields)
  return JSON.parse(String(write.mock.calls[0]?.[0])) as Record<string, unknown>
}

it('writes one JSON line with time, level and event', () => {
  expect(logged({ route: '/api/tasks' })).toEqual({
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    level: 'warn',
    event: 'test.event',
    route: '/api/tasks',
  })
})

it('redacts fields with the name of a secret at every depth, and nothing else', () => {
  const headers = [{ Authorization: 'Basic abc', accept: 'text/html' }, { 'set-cookie': 'a=b' }]
  expect(logged({ headers, apiKey: 'k', pin: '1234', spin: 'left' })).toMatchObject({
    headers: [{ Authorization: '[redacted]', accept: 'text/html' }, { 'set-cookie': '[redacted]' }],
    apiKey: '[redacted]',
    pin: '[redacted]',
    spin: 'left',
  })
})

it('redacts tokens in the text of errors', () => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl'
  const text = JSON.stringify(logged({ error: `refused Bearer abc.def and ${jwt} at line 1` }))
  expect(text).toContain('refused Bearer [redacted] and [redacted] at line 1')
})

it('has a line a minute for what comes often, with how many there were', async () => {
  const clock = new FakeClock()
  const lines: unknown[] = []
  const log = rareLog((_, event, fields) => lines.push([event, fields]), clock)
  for (let n = 0; n < 500; n++) log('warn', 'streams_full', { n })
  log('warn', 'other', {})
  expect(lines).toEqual([
    ['streams_full', { n: 0, count: 1 }],
    ['other', { count: 1 }],
  ])
  await clock.advance(60_000)
  log('warn', 'streams_full', { n: 500 })
  expect(lines.at(-1)).toEqual(['streams_full', { n: 500, count: 500 }])
})

it.each([
  [{ files: 3, code: undefined }, 'files=3'],
  // A name cannot rewrite what the terminal shows.
  [{ path: 'a\u001b[2J\n\u009b\u202eb' }, 'path=a\\u{1b}[2J\\u{a}\\u{9b}\\u{202e}b'],
  [{ token: 'hush', why: 'sent Bearer hush' }, 'token=[redacted] why=sent Bearer [redacted]'],
])('is one line of words for people', (fields, shown) => {
  const lines: string[] = []
  const log = createLog(
    'pretty',
    (line) => lines.push(line),
    'info',
    () => 0,
  )
  log('info', 'it.happened', fields)
  log('debug', 'it.happened', {})
  expect(lines).toEqual([`00:00:00 info  it.happened ${shown}\n`])
})
