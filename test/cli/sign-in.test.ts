import { chmod, cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { jwtVerify } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { writeLocalJson } from '../../system/data/local-json.ts'
import { mintTokens } from '../../system/local/tokens.ts'
import { signIn } from '../contract/console-session.ts'
import { SECRET } from '../support/edge.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { giveSecret } from '../support/run-home.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { run } from './payments/fake-system.ts'
import { run as runWords } from './run.ts'

let dir: string
beforeEach(() => {
  dir = tempFolder()
})

/** A data folder as `npm start` leaves it while it runs. */
async function start(more: { publicUrl?: string } = {}): Promise<void> {
  await giveSecret(dir, SECRET)
  const [url, database, simulator] = ['http://127.0.0.1:8787', 'http://d', 'http://s']
  const tokens = await mintTokens(SECRET, ['/srv/lamp', '/srv/lamp/*'], Date.now())
  const boards = [{ path: '/srv/lamp', dir: '/srv/lamp', layout: 'cairn' as const }]
  const places = { url, path: '/srv/lamp', boards, database, databaseToken: 'd', simulator }
  await writeLocalJson(dir, { ...places, tokens, gateways: {}, ...more })
}

describe('signalbox sign-in', () => {
  it('prints a link to the running system, another one each time, that its edge takes once', async () => {
    await start()
    const first = await run(`sign-in --data ${dir}`)
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toMatch(/^http:\/\/127\.0\.0\.1:8787\/#\/sign-in\/[\w.-]+\n$/)
    expect((await run(`sign-in --data ${dir}`)).out).not.toBe(first.out)
    const edge = processEdge()
    const code = first.out.trim().replace(/^.*\//, '')
    const session = {
      scopes: ['board:read', 'payments:read', 'payments:write'],
      repos: ['/srv/lamp', '/srv/lamp/*'],
    }
    expect(await signIn(edge, { code })).toMatchObject({ status: 201, json: session })
    expect(await signIn(edge, { code })).toMatchObject({ json: { code: 'code_spent' } })
  })

  it('finds the system whose data folder a variable names', async () => {
    await start()
    const { code, out } = await run('sign-in', { DATA_DIR: dir })
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^http:\/\/127\.0\.0\.1:8787\/#\/sign-in\//),
    ])
  })

  it('lets who gets the link end claims and take boards off the list, where it says so', async () => {
    await start()
    const { out } = await run(`sign-in --data ${dir} --work --boards`)
    const code = out.trim().replace(/^.*\//, '')
    const { json } = await signIn(processEdge(), { code })
    const ofBoards = ['board:read', 'board:work', 'board:lead', 'board:write']
    expect(json).toMatchObject({ scopes: [...ofBoards, 'payments:read', 'payments:write'] })
  })

  it('names who gets the link: the session, and so the audit trail, has that name', async () => {
    await start()
    const { out } = await run(`sign-in --data ${dir} --subject ada`)
    const code = out.trim().replace(/^.*\//, '')
    const signedIn = await signIn(processEdge(), { code })
    expect(signedIn).toMatchObject({ status: 201, json: { subject: 'ada' } })
  })

  it('prints the public address of an edge that has one', async () => {
    await start({ publicUrl: 'https://signalbox.example' })
    const { out } = await run(`sign-in --data ${dir}`)
    expect(out).toMatch(/^https:\/\/signalbox\.example\/#\/sign-in\//)
  })

  it('signs for a server with the first of its AUTH_SECRETS, as its file has them now', async () => {
    const file = join(dir, 'variables')
    const boards = [{ path: 'lamp', dir: '/srv/lamp', layout: 'cairn' as const }]
    const url = 'http://127.0.0.1:8787'
    await writeLocalJson(dir, { url, serve: { boards, repo: 'lamp', env: file, files: {} } })
    const variables = `AUTH_SECRETS="${SECRET} ${'x'.repeat(32)}"\nAUTH_AUDIENCE=ours\n`
    await writeFile(file, variables, { mode: 0o600 })
    const { out } = await run(`sign-in --data ${dir}`)
    const code = out.trim().replace(/^.*\//, '')
    const { payload } = await jwtVerify(code, new TextEncoder().encode(SECRET))
    expect(payload).toMatchObject({ aud: 'ours:sign-in', repos: ['lamp', 'lamp/*', 'lamp#*'] })

    await writeFile(file, '')
    const { code: exit, err } = await run(`sign-in --data ${dir}`)
    expect([exit, err]).toEqual([2, expect.stringContaining(`set AUTH_SECRETS, as in ${file}.`)])
    await writeLocalJson(dir, { url, serve: { boards: [], files: {} } })
    expect((await run(`sign-in --data ${dir}`, { AUTH_SECRETS: SECRET })).code).toBe(0)
    await writeFile(file, SECRET, { mode: 0o600 })
    await chmod(file, 0o600)
    const AUTH_SECRETS_FILE = file
    await writeLocalJson(dir, { url, serve: { boards: [], files: { AUTH_SECRETS_FILE } } })
    const named = { SIGNALBOX_PUBLIC_URL: 'https://signalbox.example' }
    const behind = await run(`sign-in --data ${dir}`, named)
    expect(behind.out).toMatch(/^https:\/\/signalbox\.example\/#\/sign-in\//)
  })

  it('signs nothing for a server that is found, and not named: it may have come with a repository', async () => {
    const found = join(dir, '.signalbox')
    await mkdir(found)
    await writeLocalJson(found, {
      url: 'https://elsewhere.example',
      serve: { boards: [], files: {} },
    })
    const env = { AUTH_SECRETS: SECRET }
    for (const command of ['sign-in', 'doctor', 'payments doctor']) {
      const { code, out, err } = await runWords(command.split(' '), env, { cwd: dir })
      expect({ code, out }, command).toEqual({ code: 2, out: '' })
      expect(err).toContain(`may run with ${found}: if it is yours, name it by --data.`)
    }
    expect((await run(`sign-in --data ${found}`, env)).code).toBe(0)
  })

  it('takes from local.json no variable but names of files of secrets', async () => {
    const AUTH_SECRETS_FILE = join(dir, 'secret')
    await writeFile(AUTH_SECRETS_FILE, SECRET, { mode: 0o600 })
    const files = { AUTH_SECRETS_FILE, SIGNALBOX_PUBLIC_URL: 'https://elsewhere.example' }
    await writeLocalJson(dir, { url: 'http://127.0.0.1:8787', serve: { boards: [], files } })
    expect((await run(`sign-in --data ${dir}`)).out).toMatch(/^http:\/\/127\.0\.0\.1:8787\//)
  })

  it('says that no system runs there', async () => {
    const { code, out, err } = await run(`sign-in --data ${dir}`)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('Signalbox is not running here: start it with signalbox.')
  })

  it('takes no secret from the folder, which may have come with a repository, unless it is trusted', async () => {
    await start()
    await symlink(dir, `${dir}-moved`)
    await cp(dir, `${dir}-copy`, { recursive: true })
    await writeFile(join(`${dir}-copy`, 'secret'), `${SECRET}\n`)
    try {
      expect(await run(`sign-in --data ${dir}-moved`)).toMatchObject({ code: 0, err: '' })
      const copied = await run(`sign-in --data ${dir}-copy`)
      expect(copied).toMatchObject({ code: 2, out: '' })
      expect(copied.err).toContain('has no secret among the files of this user')
      expect((await run(`sign-in --data ${dir}-copy --trust-data`)).code).toBe(0)
      const trusting = { SIGNALBOX_TRUST_DATA: '1' }
      expect((await run(`sign-in --data ${dir}-copy`, trusting)).code).toBe(0)
    } finally {
      await rm(`${dir}-moved`)
      await rm(`${dir}-copy`, { recursive: true })
    }
  })

  it('does not read a local.json that is a link', async () => {
    await start()
    await rename(join(dir, 'local.json'), join(dir, 'elsewhere.json'))
    await symlink('elsewhere.json', join(dir, 'local.json'))
    expect(await run(`sign-in --data ${dir}`)).toMatchObject({ code: 2, out: '' })
  })

  it('takes no argument', async () => {
    expect((await run('sign-in here')).code).toBe(2)
  })
})
