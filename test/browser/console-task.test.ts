// The open task in a real browser: it stays open while it changes, and hostile content is harmless.

import { describe, expect, it } from 'vitest'
import { expectAccessible } from '../support/axe.ts'
import { boardPages } from '../support/board-page.ts'
import { hasChromium, whySkipped } from '../support/chromium.ts'
import { editTask, linkOf, openConsole } from '../support/console-page.ts'
import { oneProcess, Starts } from '../support/local-system.ts'
import { detailOf, FIRST, session, TASKS, withChanged } from '../support/made-up-board.ts'

describe.skipIf(!hasChromium)(`the open task in Chromium${whySkipped}`, () => {
  const { open, openFull, newContext } = boardPages()

  it('keeps folded-out parts open when the task changes', async () => {
    const board = await openFull('#/board/LAMP-4')
    const { page } = board
    const run = { file: 'a.log', cmd: 'make test', exit: 1, timedout: false, output: 'it broke' }
    const body = 'Line\n\n'.repeat(90)
    await board.update({ details: { 'LAMP-4': detailOf('LAMP-4', { body, runs: [run] }) } })
    await board.update({ tasks: withChanged('LAMP-4', { title: 'Once' }) })
    // All of the text is formatted: until then it is lower, and the scroller moves.
    await page.locator('dialog .markdown p').nth(89).waitFor()
    await page.locator('.markdown .raw').waitFor({ state: 'detached' })
    await page.getByText('make test').click()
    await page.getByText('it broke').waitFor()
    const before = await page.evaluate(`document.querySelector('dialog .scroller').scrollTop`)
    expect(before).toBeGreaterThan(0)

    const runs = [{ ...run, file: 'b.log', cmd: 'make again', output: 'fine' }, run]
    await board.update({ details: { 'LAMP-4': detailOf('LAMP-4', { body, runs }) } })
    await board.update({ tasks: withChanged('LAMP-4', { title: 'Twice' }) })
    await page.getByText('make again').waitFor()
    expect(await page.getByText('it broke').isVisible()).toBe(true)
    expect(await page.evaluate(`document.querySelector('dialog .scroller').scrollTop`)).toBe(before)

    await board.update({ details: {}, tasks: TASKS.slice(0, 3) })
    await page.getByText('This task was deleted.').waitFor()
    expect(await page.getByText('it broke').isVisible()).toBe(true)
  })

  it('names the linked worktree of a session and of a run', async () => {
    const board = await openFull('#/board/LAMP-1')
    const live = { heartbeatAt: '2026-03-03T09:00:03Z', worktree: '/home/mira/feat' }
    const own = session('ses_2', { tree: 'feat-x', live })
    const run = { file: 'a.log', cmd: 'make test', exit: 0, timedout: false, tree: 'feat-y' }
    const details = { 'LAMP-1': detailOf('LAMP-1', { sessions: [own], runs: [run] }) }
    await board.update({ sessions: [own], details })
    const dialog = board.page.getByRole('dialog')
    await dialog.getByText('feat-x').waitFor()
    expect(await dialog.getByText('/home/mira/feat').count()).toBe(0)
    await dialog.getByText('make test').click()
    await dialog.getByText('worktree feat-y').waitFor()
  })

  it('shows that the task of a link does not exist', async () => {
    const { page } = await openFull('#/board/LAMP-77')
    await page.getByRole('dialog', { name: 'There is no task LAMP-77.' }).waitFor()
  })

  it('shows references as text and links, and neither a rank nor empty fields', async () => {
    const references = ['https://shop.example/issues/7', 'javascript:alert(1)', 'docs/lamp.md']
    const extra = { references, documentation: [], reporter: null, points: 3, error: { code: 'x' } }
    const board = await open('#/board/LAMP-4')
    await board.update({ ...FIRST, details: { 'LAMP-4': detailOf('LAMP-4', { extra, rank: 7 }) } })
    const fields = board.page.getByRole('region', { name: 'Other fields' })
    await fields.getByText('docs/lamp.md', { exact: true }).waitFor()
    for (const text of references) await fields.getByText(text, { exact: true }).waitFor()
    expect(await fields.getByRole('link').allTextContents()).toEqual([references[0]])
    expect(await fields.getByRole('term').allTextContents()).toEqual([
      'references',
      'points',
      'error',
    ])
    expect(await fields.locator('pre').textContent()).toContain('"code": "x"')
    expect(await board.page.getByRole('term').filter({ hasText: 'Rank' }).count()).toBe(0)
  })

  it('has no serious accessibility problem, light, dark and narrow', async () => {
    const board = await open('#/board/LAMP-4')
    const { page } = board
    const checks = [{ desc: 'it dims', cmd: 'make test', result: 'fail' }]
    const body = '# A title\n\n- [x] done\n- [ ] not yet\n\n| a | b |\n|---|---|\n| 1 | 2 |\n'
    const open4 = detailOf('LAMP-4', { body, checks, sessions: [session('ses_1')] })
    await board.update({ ...FIRST, details: { 'LAMP-4': open4 } })
    await page.getByRole('table').waitFor()
    await expectAccessible(page)
  })

  it('shows the plain text of what takes too long or is too much to format', async () => {
    const board = await open('#/board/LAMP-4')
    const { page } = board
    const show = (title: string, body: string) =>
      board.update({
        tasks: withChanged('LAMP-4', { title }),
        details: { 'LAMP-4': detailOf('LAMP-4', { body }) },
      })
    await show('Calm', '*calm*')
    await page.locator('.markdown em').waitFor()
    for (const [index, body] of FREEZING.entries()) {
      await show(`Hostile ${index}`, body)
      await page.getByText('Shown as plain text').waitFor()
      expect(await page.locator('.markdown .raw').textContent()).toBe(body)
      await show(`Calm ${index}`, '*calm*')
      await page.locator('.markdown em').waitFor()
      expect(await page.getByText('Shown as plain text').count()).toBe(0)
    }
  })

  it('shows plain text where no worker can be started', async () => {
    const board = await open('#/board')
    const { page } = board
    await page.evaluate('Worker = class { constructor() { throw new Error("refused") } }')
    await board.update({ ...FIRST, details: { 'LAMP-4': detailOf('LAMP-4', { body: '*a*' }) } })
    await page.evaluate('location.hash = "#/board/LAMP-4"')
    await page.getByText('Shown as plain text').waitFor()
    expect(await page.locator('.markdown .raw').textContent()).toBe('*a*')
  })

  it('executes nothing from a hostile file', async () => {
    const starts = new Starts()
    try {
      const start = await (await starts.start({ launch: oneProcess })).ready()
      const context = await newContext()
      // The sanitiser parses in a separate document, but the policy of the page reports that as
      // well.
      const { page } = await openConsole(context, linkOf(start))
      const asked: string[] = []
      page.on('request', (request) => asked.push(new URL(request.url()).hostname))
      await page.getByText('LAMP-5').filter({ visible: true }).first().waitFor()
      await editTask(start, 'LAMP-5', (text) => `${text}\n${HOSTILE}`)
      await page.goto(`${(await start.local()).url}/#/board/LAMP-5`)
      const task = page.getByRole('dialog')
      // Rendered. Before that, the plain text is shown.
      await task.getByRole('checkbox').waitFor()

      expect(await page.evaluate('window.taken')).toBeUndefined()
      expect(await task.locator(FORBIDDEN).count()).toBe(0)
      expect(await task.getByRole('checkbox').count()).toBe(1)
      expect(await task.getByRole('checkbox').isDisabled()).toBe(true)
      expect(await page.evaluate(LINKS)).toEqual([
        'https://example.com/ noopener noreferrer _blank',
        'https://example.com/pixel.png noopener noreferrer _blank',
        'mailto:mira@example.com noopener noreferrer _blank',
      ])
      expect(new Set(asked)).toEqual(new Set(['127.0.0.1']))
      await context.close()
    } finally {
      await starts.clear()
    }
  })
})

/** The first takes most of a minute to parse. The others are too deep and too large to lay out. */
const FREEZING = ['__a**'.repeat(20_000), '<b>'.repeat(5_000), '- a\n'.repeat(20_000)]

const HOSTILE = `
<img src="x" onerror="window.taken = 1"><script>window.taken = 2</script>
<svg><style><img src="x" onerror="window.taken = 3"></style></svg>
<iframe srcdoc="<script>parent.taken = 4</script>"></iframe>
<form action="https://example.com/"><input name="token"><button>Sign in again</button></form>
<div id="search" class="notice" style="position: fixed; inset: 0">Sign in</div>
<a href="javascript:window.taken = 5" onclick="window.taken = 6">here</a>
<base href="https://example.com/"><meta http-equiv="refresh" content="0; url=https://example.com/">

[script](javascript:window.taken=7) [data](data:text/html,hello) [own](#/payments)
[web](https://example.com/) ![pixel](https://example.com/pixel.png) <mailto:mira@example.com>

- [x] a box

the end of it
`

// biome-ignore format: several selectors a line.
const FORBIDDEN = [
  'img', 'script', '.markdown svg', 'iframe', 'form', 'base', 'meta', 'style', 'object', 'embed',
  '.markdown button', '.markdown [id]', '.markdown [class]', '.markdown [style]',
  '.markdown [onclick]', '.markdown input:not([type=checkbox])',
].join(', ')

const LINKS = `[...document.querySelectorAll('.markdown a[href]')]
  .map(({ href, rel, target }) => [href, rel, target].join(' '))`
