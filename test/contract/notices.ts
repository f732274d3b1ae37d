// What people are told of a board, on any host, by receivers on this machine.

import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Notices, Task } from '../../libraries/api/types.ts'
import { type DataRecord, WIRE } from '../../worker/board/wire.ts'
import type { NoticeCause } from '../../worker/shared/notice-rules.ts'
import type { PublishedRule } from '../../worker/shared/notice-schemas.ts'
import {
  freshHash,
  NOTICE_SECRET,
  type Repo,
  sessionRecord,
  syncRoot,
  taskRecord,
  token,
} from '../support/edge.ts'
import { serve, type TestServer } from '../support/http.ts'
import { jsonOf } from '../support/json-of.ts'
import { PATIENT } from '../support/patience.ts'
import type { Board } from './board.ts'

interface Received {
  path: string
  headers: Headers
  text: string
}

const config = (): DataRecord => ({
  kind: 'board',
  id: 'board',
  hash: freshHash(),
  board: { layout: 'cairn', states: ['todo', 'doing', 'done'], closed: ['done'] },
})
const todo = (id: string, fields: Partial<Task> = {}) =>
  taskRecord(id, { status: 'todo', ...fields })

export function noticeContract({ name, published }: Board): void {
  describe(`notices on ${name}`, () => {
    const received: Received[] = []
    /** What the receiver answers, by the first part of the path. */
    const answers = new Map<string, () => Response>()
    let receiver: TestServer
    beforeAll(async () => {
      receiver = await serve(async (request) => {
        const path = new URL(request.url).pathname
        received.push({ path, headers: request.headers, text: await request.text() })
        return answers.get(path)?.() ?? new Response(null, { status: 204 })
      })
    })
    afterAll(() => receiver.close())

    /** A receiver of its own. */
    const mailbox = () => {
      const path = `/${freshHash()}`
      const all = () => received.filter((it) => it.path === path)
      return { url: `${receiver.url}${path}`, path, all }
    }
    const rules = async (repo: Repo, notices: PublishedRule[]) =>
      await repo.sync({ ...syncRoot(repo.run, { root: freshHash() }), notices })
    const notices = async (repo: Repo) => await repo.json<Notices>('/notices')
    // What was lost on its way comes again after its lease of 30 s, or a failed alarm's minute.
    const until = (isSo: () => boolean | Promise<boolean>) =>
      vi.waitUntil(isSo, { ...PATIENT, timeout: 3 * PATIENT.timeout })
    const test = async (repo: Repo, on: unknown, scope = 'board:read board:lead') =>
      await repo.request('/notices/test', {
        method: 'POST',
        headers: { authorization: `Bearer ${await token({ scope, repos: [repo.path] })}` },
        body: JSON.stringify({ on }),
      })
    const on = (cause: NoticeCause, to: PublishedRule['to'], minutes = 0): PublishedRule => ({
      on: cause,
      minutes,
      to,
    })
    const finished = async (repo: Repo) => {
      await until(async () =>
        (await notices(repo)).deliveries.some((it) => it.endedAt !== undefined),
      )
      return await notices(repo)
    }

    it('tell a webhook once, signed, and show nothing of its address but the host', async () => {
      const repo = await published(config(), todo('A-1'), todo('A-2'))
      const { url, all } = mailbox()
      await rules(repo, [on('ready', { webhook: `${url}?key=very-secret` })])
      const { rules: shown, deliveries } = await finished(repo)
      const [letter] = all()
      const { headers, text = '' } = letter ?? {}
      const signed = Object.fromEntries(headers ?? [])
      expect(new Webhook(NOTICE_SECRET).verify(text, signed)).toMatchObject({
        type: 'BoardNotice',
        data: { board: repo.path, causes: [{ on: 'ready', ready: 2, task: 'A-1' }] },
      })
      const host = new URL(url).host
      expect(shown).toEqual([{ on: 'ready', minutes: 0, to: 'webhook', host }])
      expect(deliveries).toMatchObject([
        { id: headers?.get('webhook-id'), state: 'delivered', attempts: 1, status: 204, host },
      ])
      expect(JSON.stringify({ shown, deliveries })).not.toContain('very-secret')
      // The same rules again, and a change that changes nothing of it.
      await rules(repo, [on('ready', { webhook: `${url}?key=very-secret` })])
      await repo.changes({ upserts: [todo('A-3')] })
      await test(repo, 'ready')
      await until(() => all().length === 2)
      expect((await notices(repo)).deliveries.map(({ test }) => test)).toEqual([true, undefined])
    })

    it('tell all that comes together as one, and each cause but once', async () => {
      const repo = await published(
        config(),
        todo('A-1'),
        todo('B-1', { deps: ['A-1'], ready: false }),
      )
      const { url, all } = mailbox()
      await rules(repo, [
        on('ready', { webhook: url }),
        on('blocked', { webhook: url }),
        on('parent_done', { webhook: url }),
      ])
      const { deliveries } = await finished(repo)
      expect(all()).toHaveLength(1)
      const told = deliveries.flatMap(({ causes }) => causes.map((it) => [it.on, it.task]))
      expect(told).toEqual([
        ['ready', 'A-1'],
        ['blocked', 'B-1'],
      ])
      await repo.changes({
        upserts: [todo('P-1'), todo('P-2', { parent: 'P-1', status: 'done' })],
      })
      await until(() => all().length === 2)
      expect(JSON.parse(all()[1]?.text ?? '')).toMatchObject({
        data: { causes: [{ on: 'parent_done', task: 'P-1' }] },
      })
    })

    it('tell of work that stalled, and of a claim that was taken away', async () => {
      const session = sessionRecord('ses_1', { health: 'stalled', actor: 'ada' })
      const begun = todo('A-1', { sessionId: 'ses_1', executionState: 'stalled' })
      const repo = await published(config(), begun, session, todo('A-2'))
      const { url, all } = mailbox()
      await rules(repo, [on('claim_taken', { ntfy: url }), on('stalled', { ntfy: url })])
      const texts = () => all().map(({ text }) => text)
      await until(() => texts().length === 1)
      expect(texts()).toEqual([`Signalbox, ${repo.path}:\nStalled: A-1 Task A-1 (ada)`])
      const agent = await token({ scope: 'board:read board:work', repos: [repo.path] })
      const call = (route: string, body: object) =>
        repo.request(route, {
          method: 'POST',
          headers: { authorization: `Bearer ${agent}` },
          body: JSON.stringify(body),
        })
      const claim = { claim: randomBytes(16).toString('base64url'), task: 'A-2', actor: 'bob' }
      const held = await jsonOf<{ session: string }>(await call('/claims', claim), 201)
      await call('/claims/release', { session: held.session, outcome: 'abandoned' })
      await until(() => texts().length === 2)
      expect(texts()[1]).toMatch(/:\nClaim taken away: A-2 Task A-2 \(bob\)$/)
    })

    it('are sent as chats have them, and a title calls nobody there', async () => {
      const repo = await published(
        config(),
        todo('A-1', { title: String.raw`<!channel> @all \[x\](https://evil.test)` }),
      )
      const [slack, mattermost, ntfy] = [mailbox(), mailbox(), mailbox()]
      await rules(repo, [
        on('ready', { slack: slack.url }),
        on('ready', { mattermost: mattermost.url }),
        on('ready', { ntfy: ntfy.url }),
      ])
      await until(() => [slack, mattermost, ntfy].every(({ all }) => all().length === 1))
      const textOf = ({ all }: typeof slack) =>
        (JSON.parse(all()[0]?.text ?? '{}') as { text: string }).text
      expect(textOf(slack)).toContain('&lt;!channel&gt;')
      expect(textOf(mattermost)).not.toMatch(/@all|(?<!\\)(\\\\)*[[\]]/)
      expect(ntfy.all()[0]?.text).toMatch(/^Signalbox, .*:\nReady, and nobody works: 1, next A-1 /)
    })

    it('follow no redirect, and say what the receiver answered', async () => {
      const repo = await published(config(), todo('A-1'))
      const [from, to] = [mailbox(), mailbox()]
      answers.set(from.path, () => Response.redirect(to.url, 307))
      await rules(repo, [on('stalled', { webhook: from.url })])
      const { deliveries } = await jsonOf<Notices>(await test(repo, 'stalled'), 200)
      expect(deliveries).toMatchObject([{ state: 'failed', test: true, attempts: 1 }])
      expect(to.all()).toEqual([])
      answers.set(from.path, () => new Response(null, { status: 503 }))
      const again = await jsonOf<Notices>(await test(repo, 'stalled'), 200)
      expect(again.deliveries).toMatchObject([{ state: 'failed', status: 503 }])
    })

    it('are tried again with one id until the receiver takes them', async () => {
      const repo = await published(config(), todo('A-1'))
      const { url, path, all } = mailbox()
      answers.set(path, () => new Response(null, { status: all().length === 1 ? 500 : 200 }))
      await rules(repo, [on('ready', { webhook: url })])
      await finished(repo)
      const ids = new Set(all().map(({ headers }) => headers.get('webhook-id')))
      expect([all().length, ids.size]).toEqual([2, 1])
      expect((await notices(repo)).deliveries).toMatchObject([{ state: 'delivered', attempts: 2 }])
    })

    it('hand a command to the sidecar, and take its answer', async () => {
      const repo = await published(config(), todo('A-1'))
      const command = '0123456789abcdef'
      const due = async () =>
        (
          await repo.json<{ commands: { id: string; command: string; text: string }[] }>(
            '/notices/due',
          )
        ).commands
      const ran = async (body: object) =>
        (await repo.request('/notices/due', { method: 'POST', body: JSON.stringify(body) })).status
      await rules(repo, [on('review', { command })])
      await test(repo, 'review')
      const root = await rules(repo, [on('review', { command })])
      expect(root).toMatchObject({ notices: true })
      const [first] = await due()
      expect(first).toMatchObject({ command, text: expect.stringMatching(/ a test\nTo review$/) })
      expect(await due()).toEqual([])
      expect(await ran({ wire: WIRE, id: first?.id })).toBe(200)
      expect(await ran({ wire: WIRE, id: 'ntc_none' })).toBe(404)
      const { deliveries } = await notices(repo)
      expect(deliveries).toMatchObject([{ to: 'command', state: 'delivered', attempts: 1 }])
    })

    it('end with their rule', async () => {
      const repo = await published(config(), todo('A-1'))
      const { url, path } = mailbox()
      answers.set(path, () => new Response(null, { status: 500 }))
      await rules(repo, [on('ready', { webhook: url })])
      await until(async () => (await notices(repo)).deliveries[0]?.attempts === 1)
      await rules(repo, [])
      expect(await notices(repo)).toMatchObject({ rules: [], deliveries: [{ state: 'failed' }] })
    })

    it.each([
      ['an address that others on the network could read', { webhook: 'http://shop.example/x' }],
      ['a user in the address', { slack: 'https://me:pass@hooks.slack.com/x' }],
      ['no URL', { ntfy: 'alerts' }],
      ['two targets', { ntfy: 'https://ntfy.sh/x', webhook: 'https://shop.example/x' }],
      ['no target', {}],
      ['a command itself', { command: 'rm -rf /' }],
    ])('refuse %s, and store nothing', async (_, to) => {
      const repo = await published(config())
      const refused = await repo.post('sync', {
        wire: WIRE,
        ...syncRoot(repo.run),
        notices: [{ on: 'ready', to }],
      })
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([
        400,
        'invalid_request',
      ])
      expect(await notices(repo)).toEqual({ rules: [], deliveries: [] })
    })

    it('let only a lead test them, and a rule that is there', async () => {
      const repo = await published(config())
      const { url } = mailbox()
      await rules(repo, [on('stalled', { webhook: url })])
      const refused = async (...asked: Parameters<typeof test>) => {
        const response = await test(...asked)
        return [response.status, ((await response.json()) as { code: string }).code]
      }
      expect(await refused(repo, 'ready')).toEqual([404, 'unknown_rule'])
      expect(await refused(repo, 'nothing')).toEqual([400, 'invalid_request'])
      expect(await refused(repo, 'stalled', 'board:read board:work')).toEqual([403, 'forbidden'])
    })
  })
}
