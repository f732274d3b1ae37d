// What a person who leads reads within ten seconds: who works, who is stuck, what waits for a
// review. On the page of a real system, over a repository with linked worktrees.

import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { commitAll, git, initialize } from '../sidecar/git/git-folder.ts'
import { expectAccessible } from '../support/axe.ts'
import { boardPages } from '../support/board-page.ts'
import { hasChromium, whySkipped } from '../support/chromium.ts'
import { focused, linkOf, openConsole, tabTo } from '../support/console-page.ts'
import { oneProcess, type Start, Starts } from '../support/local-system.ts'
import { detailOf, session, task, withChanged } from '../support/made-up-board.ts'
import { tempFolder } from '../support/temp-folder.ts'

const starts = new Starts()
afterAll(() => starts.clear())

async function setLimits(start: Start, change: object): Promise<void> {
  const { url, tokens } = await start.local()
  const answer = await fetch(`${url}/api/board-settings`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${tokens.board}`, 'content-type': 'application/json' },
    body: JSON.stringify(change),
  })
  expect(answer.status).toBe(200)
}

describe.skipIf(!hasChromium)(`the lead's minute in Chromium${whySkipped}`, () => {
  const { newContext, openFull } = boardPages()

  it('counts who works, is stuck and waits for a review, and leads to each', async () => {
    const folder = tempFolder()
    const main = join(folder, 'board')
    await cp('examples/board', main, { recursive: true })
    initialize(main)
    const treeOf = (name: string) => join(folder, name)
    for (const name of ['dim', 'knob']) {
      git(main, 'worktree', 'add', '-q', '-b', `agent/${name}`, treeOf(name))
    }
    // Longer than a busy page needs to show who works.
    const env = { SILENT_AFTER: '10s' }
    const start = await (await starts.start({ launch: oneProcess, storeDir: main, env })).ready()
    const { page, complaints } = await openConsole(await newContext(), linkOf(start))
    const glance = page.getByRole('region', { name: 'At a glance' })
    const tally = (text: string) => glance.getByRole('link', { name: new RegExp(`^${text}`) })
    await tally('1 stalled').waitFor()
    await tally('0 work').waitFor()
    const stuck = page.getByRole('list', { name: 'Stuck' })
    await stuck.getByRole('link', { name: /^Stalled: .*agent:otto.*LAMP-2/ }).waitFor()

    const claim = ['claim', '--actor', 'ada@vm:27080/dim', '--task', 'LAMP-4', '--force']
    const claimed = await run([...claim, '--data', start.dataDir], {}, { cwd: treeOf('dim') })
    expect([claimed.code, claimed.err]).toEqual([0, ''])
    await tally('1 work').waitFor()
    // Its file still says that nobody has begun it.
    const begun = page.getByRole('region', { name: 'In progress' })
    await begun.getByRole('link', { name: /LAMP-4.*: dim \(agent\/dim\) · ada@vm/ }).waitFor()
    await begun.getByText('Backlog in its file').waitFor()
    // Without any message: time alone passes.
    await tally('1 silent').waitFor()
    await stuck.getByRole('link', { name: /^Silent: dim .*LAMP-4/ }).waitFor()
    await expectAccessible(page)

    await tally('1 silent').click()
    await page.getByText('1 of 7 tasks').waitFor()
    expect(page.url()).toContain('work=silent')
    await tally('1 silent').click()
    await page.getByText('7 tasks', { exact: true }).waitFor()

    await setLimits(start, { paused: true, atMost: 4 })
    await glance.getByText('Paused: no task is handed out').waitFor()
    await glance.getByText('At most 4 claims').waitFor()
    await expectAccessible(page, { selector: '.glance' })
    await setLimits(start, { paused: false, perParent: true })
    await glance.getByText('One agent per parent').waitFor()
    expect(await glance.getByText('Paused').count()).toBe(0)

    for (const id of ['LAMP-3', 'LAMP-6']) {
      const file = join(treeOf('knob'), `.cairn/tasks/${id}.md`)
      const text = await readFile(file, 'utf8')
      await writeFile(file, text.replace(/^status: .*$/m, 'status: done'))
    }
    commitAll(treeOf('knob'))
    await tally('2 to review').click()
    const branch = page.getByRole('region', { name: 'agent/knob' })
    await branch.getByRole('link', { name: /LAMP-6/ }).waitFor()
    await branch.getByText(`git -C ${treeOf('knob')} `).waitFor()
    expect(page.url()).toContain('review=true')
    await expectAccessible(page)

    git(main, 'merge', '-q', 'agent/knob')
    await tally('0 to review').waitFor()
    await branch.waitFor({ state: 'detached' })

    await glance.getByRole('link', { name: 'What happened' }).click()
    const ofAda = page.getByRole('region', { name: /^dim · ada@vm/ })
    await ofAda.getByRole('link', { name: /LAMP-4/ }).waitFor()
    await page.getByLabel('In which order').selectOption('task')
    // No agent had it.
    const marked = page.getByRole('region', { name: /^To look at/ }).getByRole('listitem')
    await marked.filter({ hasText: 'closed without a claim' }).getByText('LAMP-6').waitFor()
    const tasks = page.getByRole('region', { name: /^By task/ }).getByRole('listitem')
    const merged = tasks.filter({ hasText: 'LAMP-6' })
    await merged.getByText('Backlog → Done').waitFor()
    await expectAccessible(page)
    await merged.getByRole('link').click()
    const dialog = page.getByRole('dialog')
    await dialog
      .getByRole('region', { name: /^What happened/ })
      .getByText('Backlog → Done')
      .waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'What happened', level: 1 }).waitFor()
    expect(page.url()).toContain('#/happened?by=task')
    await expect.poll(() => focused(page)).toMatch(/^LAMP-6 /)
    await page.keyboard.press('Enter')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page)).toMatch(/^LAMP-6 /)

    const header = page.getByRole('banner')
    await header.getByText('main', { exact: true }).waitFor()
    git(main, 'switch', '-q', '-c', 'fix', 'agent/knob~1')
    await header.getByText('fix', { exact: true }).waitFor()
    await header.getByText('switched from main').waitFor()
    const ofBoard = page.getByRole('region', { name: /^The board/ })
    await ofBoard.getByText('main tree switched from main to fix').waitFor()
    expect(complaints).toEqual([])
  }, 300_000)

  it('names on a phone what is stuck, whole, with who has it and for how long', async () => {
    const board = await openFull()
    const { page } = board
    await page.setViewportSize({ width: 390, height: 664 })
    const titles = ['Read the brightness of the room', 'قياس سطوع الغرفة كل دقيقة']
    const stalled = { status: 'in_progress', executionState: 'stalled' } as const
    const held = { health: 'stalled', tree: 'light', branch: 'agent/light' } as const
    await board.update({
      tasks: titles.map((title, n) => task(`LAMP-${n}`, { ...stalled, title, sessionId: `s${n}` })),
      sessions: titles.map((_, n) =>
        session(`s${n}`, { ...held, task: `LAMP-${n}`, actor: 'root@build-machine:27080' }),
      ),
    })
    for (const title of titles) {
      await page.getByRole('list', { name: 'Stuck' }).getByRole('link', { name: title }).waitFor()
    }
    const cut = `[...document.querySelectorAll('.stuck a > span:not(.chip), .stuck .for')]
      .filter((it) => it.clientWidth < 20 || it.scrollWidth > it.clientWidth)
      .map((it) => it.textContent)`
    expect(await page.evaluate(cut)).toEqual([])
    // The cards flash: they have just changed.
    await expectAccessible(page, { selector: '.glance' })
  })

  it('is used by keyboard alone: the counts, who is stuck, and what is to review', async () => {
    const board = await openFull()
    const { page } = board
    const trees = [{ tree: 'knob', branch: 'agent/knob', dir: '/knob', status: 'done' }]
    const details = { 'LAMP-3': detailOf('LAMP-3'), 'LAMP-4': detailOf('LAMP-4') }
    await board.update({ tasks: withChanged('LAMP-3', { trees }), details })
    /** Opens what has the focus and closes it: the focus is back. */
    const lookAt = async (title: string) => {
      const before = await focused(page)
      await page.keyboard.press('Enter')
      await page.getByRole('dialog', { name: title }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
      await expect.poll(() => focused(page)).toBe(before)
    }

    await page.getByRole('link', { name: /^1 to review/ }).waitFor()
    await tabTo(page, /^1 stalled/)
    await page.keyboard.press('Enter')
    await page.getByText('1 of 4 tasks').waitFor()
    // The same key shows all again.
    expect(await focused(page)).toMatch(/^1 stalled/)
    await page.keyboard.press('Enter')
    await page.getByText('4 tasks', { exact: true }).waitFor()
    await tabTo(page, /^Stalled: .*LAMP-4/)
    await lookAt('The task LAMP-4')

    await tabTo(page, /^1 to review/, 'Shift+Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'agent/knob' }).waitFor()
    await tabTo(page, /^LAMP-3 Pair with the switch/)
    await lookAt('The task LAMP-3')
  })
})
