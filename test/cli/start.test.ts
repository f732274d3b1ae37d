import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readStart } from '../../cli/commands/start.ts'
import { settingsOf } from './run.ts'

const options = async (...args: string[]) =>
  readStart(await settingsOf(['start', ...args]), '/home/me')

describe('the options of signalbox start', () => {
  it('serve the example from the port and into the folder that the contract names', async () => {
    expect(await options()).toEqual({
      storeDir: resolve('examples/board'),
      followsLinks: false,
      repo: resolve('examples/board'),
      port: 8787,
      dataDir: '/home/me/.signalbox',
      trustsData: false,
      host: 'workerd',
    })
  })

  it('take folders relative to where they were typed', async () => {
    const { storeDir, repo, dataDir } = await options('--store', '../boards/a', '--data=d')
    expect([storeDir, repo, dataDir]).toEqual(['/home/boards/a', '/home/boards/a', '/home/me/d'])
  })

  it('name the repository as they are told, not after the folder', async () => {
    expect((await options('--repo', 'acme/web', '--store', 'x')).repo).toBe('acme/web')
  })

  it('take the last of several, since npm scripts put theirs in front', async () => {
    const { port, host } = await options('--host=deno', '--port=1', '--host=workerd', '--port=2')
    expect([port, host]).toEqual([2, 'workerd'])
  })

  it('take port 0 for any free one', async () => {
    expect((await options('--port', '0')).port).toBe(0)
  })

  it('name the repository after the folder, whatever repository the sidecar publishes', async () => {
    const settings = await settingsOf(['start'], { SIGNALBOX_REPO: 'another' })
    expect(readStart(settings, '/home/me').repo).toBe(resolve('examples/board'))
  })

  it.each([
    [['--port', '65536'], /--port N must be a whole number/],
    [['--port', '-1'], /--port/],
    [['--port', '80a'], /"80a"/],
    [['--port', ''], /--port/],
    [['--host', 'bun'], /workerd, deno, not "bun"/],
    [['--repo', ''], /--repo/],
    [['--repo', 'a\nb'], /control characters/],
    [['--repo', 'ä'.repeat(257)], /512 bytes/],
    [['--store', ''], /--store/],
    [['--data', ''], /--data/],
    [['--stroe', 'x'], /--stroe/],
    [['examples/board'], /examples\/board/],
    [['--store'], /--store/],
  ])('refuse %j in one sentence that names what is wrong', async (args, sentence) => {
    const refused = await options(...args).then(
      () => '',
      (error: Error) => error.message.trim(),
    )
    expect(refused).toMatch(sentence)
    expect(refused).not.toMatch(/\n|\. \S/)
  })
})
