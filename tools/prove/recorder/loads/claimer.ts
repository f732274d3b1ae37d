// Claims at the edge, through the proxy of the sidecar, and what is recorded of them.

import { randomBytes } from 'node:crypto'
import type { BoardLoad } from './board-load.ts'
import type { LoadPlan } from './load.ts'

const ANSWERED_MS = 8_000
const AGAIN_MS = 150

/** What the loads of agents get. */
export interface AgentsPlan extends LoadPlan {
  board: BoardLoad
  claimer: Claimer
}

interface Answer {
  status: number
  body: { task?: { id: string }; generation?: number; expiresAt?: string; end?: object }
}

interface Asked {
  actor: string
  ttlMs: number
  task?: string
  assignee?: string
  tree?: string
}

export interface Held {
  claim: string
  generation: number
}

export type Claimer = ReturnType<typeof claimerOf>

export function claimerOf({ system, recorder, ending }: LoadPlan) {
  /** The highest generation that was answered. */
  let known = 0

  /** Before a claim is asked for. What it returns records the one that is given. */
  function asks(claimer: string, ttlMs: number) {
    const before = known
    return (generation: number, task?: string, end = ''): void => {
      known = Math.max(known, generation)
      const expiresAt = Date.parse(end)
      const times = { beganAt: expiresAt - ttlMs, expiresAt }
      recorder.write({ kind: 'claim', claimer, task, generation, known: before, ...times })
    }
  }

  /** `end`: of the lease. Absent: nothing is held any more. */
  function renewed(generation: number, status: number, end?: string): void {
    const lease = end === undefined ? {} : { expiresAt: Date.parse(end) }
    recorder.write({ kind: 'renewal', generation, status, ...lease })
  }

  /**
   * Until there is an answer: a lost one is asked for again, by the same claim. Undefined: the run
   * ended before.
   */
  async function ask(route: string, body: object): Promise<Answer | undefined> {
    const { proxies, repo, tokens } = system
    const url = `${proxies.sidecar.url}/api/claims${route}?path=${encodeURIComponent(repo)}`
    do {
      try {
        const response = await fetch(url, {
          method: 'POST',
          headers: { authorization: `Bearer ${tokens.agent}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(ANSWERED_MS),
        })
        const text = await response.text()
        if (response.status < 500) return { status: response.status, body: JSON.parse(text) }
      } catch {
        // The edge is away, or its answer was cut.
      }
    } while (await ending.pause(AGAIN_MS))
    return undefined
  }

  async function release({ claim, generation }: Held, outcome: 'done' | 'abandoned') {
    recorder.write({ kind: 'release', generation })
    await ask('/release', { claim, outcome })
  }

  /** Undefined: it was refused. */
  async function claim(asked: Asked): Promise<Held | undefined> {
    const given = asks(asked.actor, asked.ttlMs)
    const own = randomBytes(16).toString('base64url')
    const answer = await ask('', { claim: own, ...asked })
    const { task, generation, expiresAt } = answer?.body ?? {}
    if (!answer || answer.status > 201 || generation === undefined) return undefined
    given(generation, task?.id, expiresAt)
    return { claim: own, generation }
  }

  return {
    asks,
    renewed,
    claim,
    release,

    /** A task that another holds. If it is given, the checker finds that. */
    async rival(asked: Asked): Promise<void> {
      const taken = await claim(asked)
      if (taken !== undefined) await release(taken, 'abandoned')
    },

    /** True: it is held. */
    async renew({ claim, generation }: Held): Promise<true | undefined> {
      const answer = await ask('/renew', { claim })
      if (!answer) return undefined
      const { status, body } = answer
      const end = status === 200 && body.end === undefined ? body.expiresAt : undefined
      renewed(generation, status, end)
      return end === undefined ? undefined : true
    },
  }
}
