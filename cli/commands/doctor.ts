// Says what would keep a sidecar from doing its work here: one check a line, each with its reason.

import { EdgeHttp } from '../../sidecar/publish/edge-http.ts'
import type { Settings } from '../settings.ts'
import type { Command } from './command.ts'
import { checkClock, checkEdge, checkToken } from './doctor-edge.ts'
import { checkInotify, checkStore } from './doctor-store.ts'

const EDGE_TIMEOUT_MS = 10_000

export const doctor = {
  name: 'doctor',
  usage: 'DIR [--edge URL --repo NAME] [options]',
  summary: 'checks the board, this machine, the edge and the token',
  about: `\
Looks at the board in DIR, at this machine's limits and, when an edge is named, at its clock, its
reach and the token. Changes nothing, here or there. Prints one line a check: ok, warn or fail.`,
  options: ['edge', 'repo', 'token-file', 'json', 'help'],
  async run(settings, io) {
    const { dir, edge, repo, token, json } = read(settings)
    const { findings, store, files } = await checkStore(dir)
    if (store) findings.push(...(await checkInotify(store, files)))
    if (edge && repo !== undefined) {
      const { finding, text } = await checkToken(token, repo)
      findings.push(finding)
      const skews: number[] = []
      const http = new EdgeHttp({
        url: edge,
        repo,
        token: () => Promise.resolve(text ?? 'none'),
        timeoutMs: EDGE_TIMEOUT_MS,
        onSkew: (skewMs) => skews.push(skewMs),
      })
      findings.push(...checkEdge(edge, await http.probe(), text !== undefined))
      http.close()
      if (skews[0] !== undefined) findings.push(checkClock(skews[0]))
    } else {
      findings.push({ name: 'edge', state: 'warn', says: 'Not checked: no --edge was given.' })
    }
    const isHealthy = findings.every(({ state }) => state !== 'fail')
    if (json) io.out(`${JSON.stringify({ ok: isHealthy, checks: findings })}\n`)
    else for (const f of findings) io.out(`${f.state.padEnd(4)}  ${f.name.padEnd(8)}${f.says}\n`)
    return isHealthy ? 0 : 1
  },
} satisfies Command

function read(settings: Settings) {
  const dir = settings.dir()
  const edge = settings.url('edge', false)
  const repo = edge ? settings.required('repo') : undefined
  const token = edge ? settings.token(false) : undefined
  const json = settings.has('json')
  settings.check()
  return { dir, edge, repo, token, json }
}
