// The protocol's own judges of our MCP: its conformance suite, and its inspector from the command
// line. They are asked where the environment variable BOARD_TOOLS names a folder in which npm
// installed them.

import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { SIGNALBOX } from '../../tools/harness/config.ts'
import { publishedRepo, type Repo, SECRET, taskRecord, token } from '../support/edge.ts'
import { serve } from '../support/http.ts'
import { processEdge } from '../support/in-process-edge.ts'
import { ask, inTools, noTools } from '../support/judges.ts'
import { uriOf, VERSIONS, WORKING } from '../support/mcp-client.ts'
import { tempFolder } from '../support/temp-folder.ts'

const CONFORMANCE = inTools('node_modules/@modelcontextprotocol/conformance/dist/index.js')
const INSPECTOR = inTools(
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
)
const EXPECTED = join(import.meta.dirname, '../fixtures/mcp/expected-failures.yml')

let repo: Repo
let url: string
let bearer: string
beforeEach(async () => {
  const edge = processEdge({ env: { AUTH_SECRETS: SECRET }, isOnLoopback: true })
  repo = await publishedRepo(edge, [
    taskRecord('A-1', { title: 'Bake bread', status: 'todo', body: 'With rye.' }),
    taskRecord('A-2', { status: 'todo' }),
  ])
  bearer = await token({ scope: WORKING, repos: [repo.path] })
  // The suite knows no tokens.
  const server = await serve(async (request) => {
    const { origin, pathname, search } = new URL(request.url)
    const headers = new Headers(request.headers)
    if (!headers.has('Authorization')) headers.set('Authorization', `Bearer ${bearer}`)
    const { method, body } = request
    const init = { method, headers, ...(body && { body, duplex: 'half' as const }) }
    return await edge.fetch(`${pathname}${search}`, init, origin)
  })
  onTestFinished(() => server.close())
  url = server.url
})

/** Fails as the judge does. */
const judge = (script: string, ...args: string[]) =>
  ask(process.execPath, [script, ...args], tempFolder())

describe.skipIf(noTools !== '')(`the conformance suite of MCP${noTools}`, () => {
  it.each(VERSIONS)(
    'finds of %s only what is expected of a server without its fixture',
    async (version) => {
      const spec = ['--suite', 'all', '--spec-version', version, '--expected-failures', EXPECTED]
      const found = await judge(CONFORMANCE, 'server', '--url', `${url}/mcp`, ...spec)
      const passed = [...found.matchAll(/✓ ([\w-]+): (\d+) passed, 0 failed/g)]
      const names = passed.flatMap(([, name, checks]) => (checks === '0' ? [] : [name]))
      const own =
        version === VERSIONS[0] ? ['http-header-validation'] : ['server-initialize', 'ping']
      const all = ['tools-list', 'resources-list', 'dns-rebinding-protection', ...own]
      expect(names).toEqual(expect.arrayContaining(all))
    },
  )
})

describe.skipIf(noTools !== '')(`the inspector of MCP${noTools}`, () => {
  it.each([
    ['HTTP', () => ['--transport', 'http', `${url}/mcp`], () => []],
    [
      'standard input and output',
      () => ['-e', `SIGNALBOX_TOKEN=${bearer}`],
      () => ['--', process.execPath, SIGNALBOX, 'mcp', '--url', url, '--board', repo.path],
    ],
  ] as const)(
    'lists the tools, calls one and lists the tasks, over %s',
    async (_, before, after) => {
      const inspect = async (...method: string[]) => {
        const args = ['--cli', ...before(), '--method', ...method, ...after()]
        return JSON.parse(await judge(INSPECTOR, ...args))
      }
      const { tools } = await inspect('tools/list', '--strict')
      expect(tools).toContainEqual(expect.objectContaining({ name: 'claim_task' }))
      const call = ['tools/call', '--tool-name', 'claim_task', '--tool-arg', 'agent=ada']
      const { structuredContent } = await inspect(...call)
      expect(structuredContent).toMatchObject({ task: { id: 'A-1' }, board: repo.path })
      const { resources } = await inspect('resources/list')
      expect(resources).toMatchObject([
        { uri: uriOf(repo, 'A-1'), title: 'Bake bread' },
        { name: 'A-2' },
      ])
    },
  )
})
