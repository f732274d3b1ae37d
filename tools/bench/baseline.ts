// The rival: what a careful afternoon makes of the same job, chokidar and server-sent events in one
// Node process. It answers the same two routes, so that both are asked by the same client.
// Where a choice was open it was made in its favour: front matter is split by lines, not parsed.
//
// `node baseline.ts DIR [--ignore-temporary]`: the flag makes chokidar ignore the temporary files
// of a save. That looks like housekeeping and decides how quick it is: a name it does not know
// makes it read the whole folder again, and every save brings one.

import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { watch } from 'chokidar'

const DEBOUNCE_MS = 100
const PING_MS = 15_000

interface BaselineTask {
  id: string
  title: string
  status: string
  rank: number
  body: string
}

const tasks = new Map<string, BaselineTask>()
const streams = new Set<ServerResponse>()
const changed = new Set<string>()
let timer: NodeJS.Timeout | undefined
let isReady = false

const dir = process.argv[2] ?? '.'
const isTemporary = (path: string) => basename(path).startsWith('.tmp-')
const ignored = process.argv.includes('--ignore-temporary') ? isTemporary : []
const watcher = watch(join(dir, '.cairn', 'tasks'), { ignored })
watcher.on('add', read)
watcher.on('change', read)
watcher.on('unlink', (path) => {
  if (isTemporary(path)) return
  tasks.delete(basename(path, '.md'))
  send(basename(path, '.md'))
})
watcher.on('error', (error) => process.stderr.write(`baseline: ${String(error)}\n`))
watcher.once('ready', () => {
  isReady = true
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    const ms = Math.round(performance.now())
    process.stdout.write(`baseline ready http://127.0.0.1:${port} in ${ms} ms\n`)
  })
})

function read(path: string): void {
  if (isTemporary(path)) return
  try {
    const task = parse(basename(path, '.md'), readFileSync(path, 'utf8'))
    tasks.set(task.id, task)
    send(task.id)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function parse(id: string, text: string): BaselineTask {
  const [, head = '', body = ''] = text.split(/^---\n/m, 3)
  const fields: Record<string, string> = {}
  for (const line of head.split('\n')) {
    const colon = line.indexOf(': ')
    if (colon > 0 && line[0] !== ' ') fields[line.slice(0, colon)] = line.slice(colon + 2)
  }
  const { title = '', status = '', rank = '' } = fields
  return { id, title, status, rank: Number(rank), body }
}

function send(id: string): void {
  if (!isReady) return
  changed.add(id)
  clearTimeout(timer)
  timer = setTimeout(() => {
    const [first] = changed
    const message =
      changed.size === 1 ? { type: 'task-changed', id: first } : { type: 'tasks-changed' }
    changed.clear()
    for (const stream of streams) stream.write(`data: ${JSON.stringify(message)}\n\n`)
  }, DEBOUNCE_MS)
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://baseline')
  if (pathname === '/api/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    response.write(': connected\n\n')
    const ping = setInterval(() => response.write(': ping\n\n'), PING_MS)
    streams.add(response)
    response.on('close', () => {
      clearInterval(ping)
      streams.delete(response)
    })
  } else {
    const task = tasks.get(pathname.replace('/api/tasks/', ''))
    response.writeHead(task ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(task ?? { error: 'No such task.', code: 'not_found' }))
  }
})
