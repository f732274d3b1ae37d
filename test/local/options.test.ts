import { describe, expect, it } from 'vitest'
import { parseOptions } from '../../local/options.ts'

const parse = (...args: string[]) => parseOptions(args, '/home/me', '/opt/signalbox')

const options = (...args: string[]) => {
  const parsed = parse(...args)
  if (parsed.kind !== 'options') throw new Error(`refused: ${JSON.stringify(parsed)}`)
  return parsed.options
}

describe('the options of npm start', () => {
  it('serve the example from the port and into the folder that the contract names', () => {
    expect(options()).toEqual({
      storeDir: '/opt/signalbox/examples/board',
      repo: '/opt/signalbox/examples/board',
      port: 8787,
      dataDir: '/home/me/.signalbox',
      host: 'workerd',
    })
  })

  it('take folders relative to where they were typed', () => {
    const { storeDir, repo, dataDir } = options('--store', '../boards/a', '--data=d')
    expect([storeDir, repo, dataDir]).toEqual(['/home/boards/a', '/home/boards/a', '/home/me/d'])
  })

  it('name the repository as they are told, not after the folder', () => {
    expect(options('--repo', 'acme/web', '--store', 'x').repo).toBe('acme/web')
  })

  it('take port 0 for any free one', () => {
    expect(options('--port', '0').port).toBe(0)
  })

  it('show the help, whatever else is asked', () => {
    expect(parse('--help', '--port', 'x')).toEqual({ kind: 'help' })
  })

  it.each([
    [['--port', '65536'], /--port must be a whole number/],
    [['--port', '-1'], /--port/],
    [['--port', '80a'], /"80a"/],
    [['--port', ''], /--port/],
    [['--host', 'bun'], /workerd or deno, not "bun"/],
    [['--repo', ''], /--repo/],
    [['--repo', 'a\nb'], /control characters/],
    [['--repo', 'ä'.repeat(257)], /512 bytes/],
    [['--store', ''], /--store/],
    [['--data', ''], /--data/],
    [['--stroe', 'x'], /--stroe/],
    [['examples/board'], /examples\/board/],
    [['--store'], /--store/],
  ])('refuse %j in one sentence that names what is wrong', (args, sentence) => {
    const parsed = parse(...args)
    expect(parsed).toMatchObject({ kind: 'refused', sentence: expect.stringMatching(sentence) })
    expect(JSON.stringify(parsed)).not.toMatch(/\\n|\. \S/)
  })
})
