// What fans out: ours, the smallest Workers with a shared subscription and without, and nchan.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { WIRE } from '../../../worker/board/wire.ts'
import { freePort } from '../../harness/free-port.ts'
import { prepareWorkerd } from '../../start/workerd.ts'
import { startProgram } from '../child.ts'
import { AUTH_SECRET, startEdge, startOtherWorker, tokenFor } from '../payments/bench-edge.ts'
import { childrenOf } from '../proc.ts'

export const FANOUT_SYSTEMS = ['signalbox', 'shared-worker', 'own-sockets', 'nchan'] as const
export type FanoutSystem = (typeof FANOUT_SYSTEMS)[number]

export interface FanoutTarget {
  system: FanoutSystem
  /** The process that holds the streams. */
  pid: number
  port: number
  /** Path and headers of stream number `n`. */
  stream(n: number): { path: string; headers: Readonly<Record<string, string>> }
  /** Text that a stream contains once it is subscribed. */
  joined: string
  /** What a message holds. */
  message: string
  publish(n: number): Promise<void>
  stop(): Promise<void>
}

const HOME = resolve(import.meta.dirname, '../../..')
const NGINX = '/usr/sbin/nginx'
const NCHAN = '/usr/lib/nginx/modules/ngx_nchan_module.so'

export const hasNchan = (): boolean => existsSync(NGINX) && existsSync(NCHAN)

export async function startFanout(system: FanoutSystem, dir: string): Promise<FanoutTarget> {
  mkdirSync(dir, { recursive: true })
  if (system === 'signalbox') return await startOurs(dir)
  return system === 'nchan' ? await startNchan(dir) : await startWorker(system, dir)
}

/** A subject may have a quarter of a repository's streams. */
const SUBJECTS = 8

async function startOurs(dir: string): Promise<FanoutTarget> {
  const edge = await startEdge(prepareWorkerd, dir, HOME, { AUTH_SECRETS: AUTH_SECRET })
  const sign = (sub: string, scope: string) => tokenFor(scope, { repos: ['bench'], sub })
  const readers = await Promise.all(
    Array.from({ length: SUBJECTS }, (_, n) => sign(`reader-${n}`, 'board:read')),
  )
  const writer = await sign('sidecar', 'board:write')
  const post = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${writer}` }
    const init = { method: 'POST', headers, body: JSON.stringify({ wire: WIRE, ...body }) }
    const response = await fetch(`${edge.url}/api/${path}`, init)
    if (!response.ok) throw new Error(`${path} was answered ${response.status}`)
    return (await response.json()) as { epoch: string; run: number }
  }
  const store = { state: 'present', version: '0.0.0' }
  const root = { step: 'root', run: null, root: '0'.repeat(32), store }
  const { epoch, run } = await post('sync', root)
  return {
    system: 'signalbox',
    pid: edge.pid,
    port: edge.port,
    stream: (n) => ({
      path: '/api/events',
      headers: { Authorization: `Bearer ${readers[n % SUBJECTS]}` },
    }),
    joined: '\nid: ',
    message: 'data: {"type":"task-changed"',
    async publish(n) {
      const hash = n.toString(16).padStart(32, '0')
      const task = { id: 'T-1', title: `Message ${n}`, status: 'open', ready: true }
      const upserts = [{ kind: 'task', id: 'T-1', hash, file: hash, task }]
      await post('changes', { epoch, run, batch: n, upserts, deletes: [] })
    },
    stop: edge.stop,
  }
}

async function startWorker(
  system: 'shared-worker' | 'own-sockets',
  dir: string,
): Promise<FanoutTarget> {
  const name = system === 'own-sockets' ? 'own-sockets-worker.ts' : 'shared-worker.ts'
  const file = join(import.meta.dirname, name)
  const { pid, port, stop } = await startOtherWorker(file, dir, { objectClass: 'Topic' })
  return { system, ...plain(port, '/publish'), pid, joined: ': connected', stop }
}

async function startNchan(dir: string): Promise<FanoutTarget> {
  const port = await freePort()
  const file = join(dir, 'nginx.conf')
  writeFileSync(file, nginxConf(dir, port))
  const program = await startProgram(
    {
      name: 'nginx',
      command: NGINX,
      args: ['-p', dir, '-c', file, '-e', join(dir, 'error.log')],
      env: { PATH: process.env.PATH ?? '' },
      logFile: join(dir, 'nginx.log'),
      graceMs: 2_000,
    },
    `http://127.0.0.1:${port}/`,
  )
  const worker = childrenOf(program.pid).find(({ command }) => command.includes('worker process'))
  return {
    system: 'nchan',
    ...plain(port, '/publish'),
    pid: worker?.pid ?? program.pid,
    joined: ': hi',
    stop: program.stop,
  }
}

function plain(port: number, path: string) {
  return {
    port,
    stream: () => ({ path: '/events', headers: {} }),
    message: 'data: {"type":"task-changed"',
    async publish(n: number) {
      const body = JSON.stringify({ type: 'task-changed', id: `T-${n}` })
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body })
      await response.text()
      if (!response.ok) throw new Error(`publishing was answered ${response.status}`)
    },
  }
}

const nginxConf = (dir: string, port: number) => `
load_module ${NCHAN};
daemon off;
worker_processes 1;
worker_rlimit_nofile 16384;
pid ${join(dir, 'nginx.pid')};
events { worker_connections 8192; }
http {
  access_log off;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  nchan_shared_memory_size 64M;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = / { return 200; }
    location = /publish { nchan_publisher; nchan_channel_id bench; }
    location = /events {
      nchan_subscriber eventsource;
      nchan_channel_id bench;
      nchan_subscriber_first_message newest;
      nchan_eventsource_ping_interval 15;
    }
  }
}
`
