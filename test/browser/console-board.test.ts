// The board in a real browser: the view alone, over a fake board, with the security policy of the
// page.

import { describe, expect, it } from 'vitest'
import { type BoardPage, boardPages } from '../support/board-page.ts'
import { hasChromium, whySkipped } from '../support/chromium.ts'
import {
  detailOf,
  FIRST,
  LIVE,
  STATUS,
  session,
  TASKS,
  task,
  withChanged,
} from '../support/made-up-board.ts'

describe.skipIf(!hasChromium)(`the board in Chromium${whySkipped}`, () => {
  const { open, openFull } = boardPages()
  const isFocused = (board: BoardPage, id: string | undefined) =>
    expect.poll(() => board.focused()).toBe(id)

  it('shows every card in its column, with a complete name for screen readers', async () => {
    const { page } = await openFull()
    const backlog = page.getByRole('region', { name: 'Backlog' })
    expect(await backlog.getByRole('listitem').count()).toBe(3)
    await backlog
      .getByRole('link', {
        name: 'LAMP-2, Read the sensor, Backlog, Blocked by LAMP-1, LAMP-9 (does not exist)',
      })
      .waitFor()
    await page.getByRole('link', { name: /LAMP-4.*Stalled: agent:otto/ }).waitFor()
  })

  it('renders only the changed card, and highlights it', async () => {
    const board = await openFull()
    expect(await board.page.locator('.card.changed').count()).toBe(0)
    await board.drawn()

    await board.update({ tasks: withChanged('LAMP-3', { title: 'Pair with the lamp' }) })
    await board.page.getByText('Pair with the lamp').waitFor()
    expect(await board.drawn()).toEqual(['LAMP-3'])
    expect(await board.page.locator('.card.changed').count()).toBe(1)
    expect(await board.card('LAMP-3').getAttribute('class')).toContain('changed')
    await board.page.getByText('LAMP-3 changed.').waitFor({ state: 'attached' })
  })

  it('looks old from when the files are offline until they are back', async () => {
    const board = await openFull()
    const borderOf = () =>
      board.page.evaluate<string>(
        `getComputedStyle(document.querySelector('[data-card="LAMP-3"]')).borderTopStyle`,
      )
    expect(await borderOf()).toBe('solid')
    await board.update({ state: { name: 'stale', currentAt: 0, reason: 'offline' } })
    await expect.poll(borderOf).toBe('dashed')
    await board.update({ state: { name: 'live', currentAt: 0, unwatched: false } })
    await expect.poll(borderOf).toBe('solid')
  })

  it('renders nothing for a heartbeat', async () => {
    const board = await openFull()
    await board.drawn()
    const live = { heartbeatAt: '2026-03-03T09:26:00Z' }
    await board.update({
      sessions: [session('ses_1', { task: 'LAMP-4', health: 'stalled', live })],
      tasks: TASKS,
    })
    // A later change: everything before it has been rendered then.
    await board.update({ tasks: withChanged('LAMP-3', { title: 'Pair with the lamp' }) })
    await board.page.getByText('Pair with the lamp').waitFor()
    expect(await board.drawn()).toEqual(['LAMP-3'])
  })

  it('renders the cards that a closed task blocked', async () => {
    const board = await openFull()
    await board.drawn()
    await board.update({ tasks: withChanged('LAMP-1', { status: 'done', ready: false }) })
    await board.page.getByText('Blocked by LAMP-9 (does not exist)').waitFor()
    expect(new Set(await board.drawn())).toEqual(new Set(['LAMP-1', 'LAMP-2']))
  })

  it('is navigated by arrow keys, opens with Enter and closes with Escape', async () => {
    const board = await openFull()
    await board.update({ details: { 'LAMP-4': detailOf('LAMP-4') } })
    const { keyboard } = board.page
    await board.page.locator('[data-card] a[tabindex="0"]').focus()
    await isFocused(board, 'LAMP-1')
    for (const [key, id] of [
      ['ArrowDown', 'LAMP-2'],
      ['End', 'LAMP-3'],
      ['Home', 'LAMP-1'],
      ['ArrowRight', 'LAMP-4'],
      ['ArrowRight', 'LAMP-4'],
    ] as const) {
      await keyboard.press(key)
      await isFocused(board, id)
    }
    expect(await board.page.locator('[data-card] a[tabindex="0"]').count()).toBe(1)

    await keyboard.press('Enter')
    await board.page.getByRole('dialog', { name: 'The task LAMP-4' }).waitFor()
    await expect.poll(() => board.page.url()).toContain('#/board/LAMP-4')
    await keyboard.press('Escape')
    await isFocused(board, 'LAMP-4')
    await expect.poll(() => board.page.url()).not.toContain('LAMP-4')
  })

  it('swaps left and right in a right-to-left language', async () => {
    const board = await openFull()
    await board.page.evaluate(`document.documentElement.dir = 'rtl'`)
    await board.page.locator('[data-card] a[tabindex="0"]').focus()
    await board.page.keyboard.press('ArrowLeft')
    await isFocused(board, 'LAMP-4')
  })

  it('keeps the focus on a moved card, and moves it on from a deleted one', async () => {
    const board = await openFull()
    await board.card('LAMP-2').getByRole('link').focus()
    await board.update({ tasks: withChanged('LAMP-2', { status: 'done' }) })
    await board.page.getByRole('region', { name: 'Done' }).getByRole('link').waitFor()
    expect(await board.focused()).toBe('LAMP-2')

    await board.card('LAMP-1').getByRole('link').focus()
    await board.update({ tasks: TASKS.filter(({ id }) => id !== 'LAMP-1') })
    await board.card('LAMP-1').waitFor({ state: 'detached' })
    expect(await board.focused()).toBe('LAMP-3')
  })

  it('searches with `/`, keeps the search in the URL, and leaves it with Escape', async () => {
    const board = await openFull()
    const { page } = board
    await page.keyboard.press('/')
    await page.keyboard.type('sensor')
    await page.getByText('1 of 4 tasks').waitFor()
    await expect.poll(() => page.url()).toContain('q=sensor')

    await page.keyboard.type(' nowhere')
    await page.getByRole('heading', { name: 'No task matches.' }).waitFor()
    await page.getByText('Check the spelling.', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).last().click()
    await board.card('LAMP-4').waitFor()
    await expect.poll(() => page.url()).not.toContain('q=')

    await page.keyboard.type('lamp-3')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('searchbox').inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await isFocused(board, 'LAMP-1')
  })

  it('shows twenty thousand tasks fifty at a time, then twice as many', async () => {
    const board = await open()
    const many = Array.from({ length: 20_000 }, (_, at) => task(`LAMP-${at + 1}`))
    await board.update({ ...FIRST, tasks: many })
    await board.card('LAMP-50').waitFor()
    expect(await board.page.locator('[data-card]').count()).toBe(50)
    await board.drawn()
    await board.page.getByRole('button', { name: /Show 50 more/ }).click()
    await isFocused(board, 'LAMP-51')
    expect(await board.page.locator('[data-card]').count()).toBe(100)
  })

  it('leads by End to the last card of the column, shown or not, and by Home back', async () => {
    const board = await open()
    const many = Array.from({ length: 500 }, (_, at) => task(`LAMP-${at + 1}`))
    await board.update({ ...FIRST, tasks: many })
    await board.card('LAMP-50').getByRole('link').focus()
    await board.page.keyboard.press('End')
    await isFocused(board, 'LAMP-500')
    await board.page.keyboard.press('Home')
    await isFocused(board, 'LAMP-1')
  })

  it('has the last done first, and sorts another column when asked, also after a reload', async () => {
    const board = await open()
    const at = (day: number) => ({ updatedAt: `2026-03-0${day}T09:00:00Z` })
    const tasks = [
      task('LAMP-1', at(1)),
      task('LAMP-2', at(2)),
      task('LAMP-3', { status: 'done', ...at(1) }),
      task('LAMP-4', { status: 'done', ...at(2) }),
    ]
    await board.update({ ...FIRST, tasks })
    const order = async (name: string) => {
      const cards = board.page.getByRole('region', { name }).locator('[data-card]')
      return await cards.evaluateAll((all) => all.map((it) => it.getAttribute('data-card')))
    }
    await expect.poll(() => order('Done')).toEqual(['LAMP-4', 'LAMP-3'])
    expect(await order('Backlog')).toEqual(['LAMP-1', 'LAMP-2'])
    await board.page.getByRole('button', { name: 'Sorted by last change in Backlog' }).click()
    await expect.poll(() => order('Backlog')).toEqual(['LAMP-2', 'LAMP-1'])
    expect(await board.page.getByRole('button', { name: /change in In progress/ }).count()).toBe(0)
    const again = await open(new URL(board.page.url()).hash)
    await again.update({ ...FIRST, tasks })
    await again.card('LAMP-2').waitFor()
    await expect
      .poll(() => again.page.locator('[data-card]').first().getAttribute('data-card'))
      .toBe('LAMP-2')
  })

  it('brings the card of an opened task into sight, however far down it is', async () => {
    const board = await open()
    const many = Array.from({ length: 1_000 }, (_, at) => task(`LAMP-${at + 1}`))
    await board.update({ ...FIRST, tasks: many, details: { 'LAMP-420': detailOf('LAMP-420') } })
    await board.card('LAMP-50').waitFor()
    await board.page.evaluate("location.hash = '#/board/LAMP-420'")
    await board.page.getByRole('dialog', { name: 'The task LAMP-420' }).waitFor()
    await board.page.keyboard.press('Escape')
    await isFocused(board, 'LAMP-420')
    const box = await board.card('LAMP-420').boundingBox()
    expect(box?.y).toBeGreaterThan(0)
    expect(box?.y).toBeLessThan(700)
  })

  it('begins at the first column on a phone, also when its order is known last', async () => {
    const board = await open()
    await board.page.setViewportSize({ width: 390, height: 844 })
    const { status, ...first } = FIRST
    await board.update({ ...first, tasks: [task('LAMP-1', { status: 'done' }), ...TASKS.slice(1)] })
    await board.card('LAMP-1').waitFor()
    await board.update({ status: STATUS })
    await board.page.getByRole('region', { name: 'Canceled' }).waitFor()
    const left = 'document.querySelector(".columns").scrollLeft'
    expect(await board.page.evaluate(left)).toBe(0)
  })

  it('shows only filters that the board can fill', async () => {
    const board = await openFull()
    const { page } = board
    await page.getByLabel('Work', { exact: true }).waitFor()
    await board.update({ tasks: [task('LAMP-1', { status: 'in_progress', ready: true })] })
    await page.getByLabel('Work', { exact: true }).waitFor({ state: 'detached' })
    expect(await page.getByText('Ready', { exact: true }).count()).toBe(0)
  })

  it('says nothing of spelling where only filters are set', async () => {
    const board = await open('#/board?label=none')
    const { page } = board
    await board.update(FIRST)
    await page.getByText('Choose other filters, or clear them.').waitFor()
    await page.getByRole('searchbox').fill('lamp')
    await page.getByText('Check the spelling, or clear the other filters.').waitFor()
  })

  it('cuts a long id before its number, and shows code in a title as code', async () => {
    const board = await openFull()
    const id = 'add-a-global-installation-scope-for-all-tools/12'
    const title = 'Keep `<b>` as text'
    await board.update({ tasks: [task(id, { title })], details: { [id]: detailOf(id, { title }) } })
    const card = board.card(id)
    const end = card.locator('.end')
    const [whole, part] = [await card.boundingBox(), await end.boundingBox()]
    expect((part?.x ?? 0) + (part?.width ?? 0)).toBeLessThan((whole?.x ?? 0) + (whole?.width ?? 0))
    expect(await end.textContent()).toBe('/12')
    expect(await card.locator('code').textContent()).toBe('<b>')
    expect(await card.locator('b').count()).toBe(0)
    await board.page.setViewportSize({ width: 390, height: 844 })
    await card.getByRole('link', { name: `${id}, Keep <b> as text, Backlog` }).click()
    const dialog = board.page.getByRole('dialog', { name: 'Keep <b> as text' })
    const line = await dialog.locator('header .id').boundingBox()
    expect(line?.height).toBeLessThan(50)
  })

  it('shows the id of a task once, where it is its title, too', async () => {
    const board = await openFull()
    const fields = { title: 'add-scope' }
    await board.update({
      tasks: [task('add-scope', fields)],
      details: { 'add-scope': detailOf('add-scope', fields) },
    })
    await expect.poll(() => board.card('add-scope').locator('.id').count()).toBe(0)
    await board.card('add-scope').getByRole('link').click()
    const dialog = board.page.getByRole('dialog', { name: 'add-scope' })
    await dialog.getByText('No description.').waitFor()
    expect(await dialog.getByText('add-scope').count()).toBe(1)
  })

  it('marks what linked worktrees made of a task, and twelve of them do not crowd its card', async () => {
    const board = await openFull()
    const trees = Array.from({ length: 12 }, (_, n) => ({
      tree: `feat-${n}`,
      dir: `/home/mira/feat-${n}`,
      branch: `feat/${n}`,
      ...(n === 1 ? { gone: true as const } : { status: 'in_progress', title: 'Dim slowly' }),
    }))
    const alone = task('LAMP-9', { inMain: false, trees: trees.slice(2, 3) })
    await board.update({
      tasks: [...withChanged('LAMP-1', { trees }), alone],
      details: { 'LAMP-1': detailOf('LAMP-1', { trees }) },
    })
    const chips = (id: string) => board.card(id).locator('.chip.tree').allTextContents()
    await expect.poll(() => chips('LAMP-9')).toEqual(['Only in worktrees', 'feat-2: In progress'])
    expect(await chips('LAMP-1')).toEqual([
      'feat-0: In progress',
      'feat-1: removed',
      '+10 worktrees',
    ])
    const link = board.card('LAMP-1').getByRole('link')
    expect(await link.getAttribute('aria-label')).toContain('feat-1: removed, feat-2: In progress')
    await board.page.getByLabel('Worktree', { exact: true }).selectOption('feat-2')
    await board.page.getByText('2 of 5 tasks').waitFor()
    await board.page.getByLabel('Worktree', { exact: true }).selectOption('feat-3')
    await board.page.getByText('1 of 5 tasks').waitFor()
    await link.click()
    const dialog = board.page.getByRole('dialog')
    await dialog.getByText('feat-11: In progress').waitFor()
    expect(await dialog.locator('.status').textContent()).toBe('Backlog')
    expect(board.errors).toEqual([])
  })

  it('shows what to do when there is no board', async () => {
    const board = await open()
    const says = (text: string) => board.page.getByText(text).waitFor()
    await board.page.getByRole('status', { name: 'Loading the board…' }).waitFor()
    await board.update({ state: { name: 'waiting', since: 1 } })
    await says('This repository has not been published yet.')
    await says('--repo /boards/lamp')
    await board.update({ state: LIVE, tasks: [], status: STATUS })
    await says('This board has no tasks yet.')
    await says('Save a first task, and it appears here.')
    await board.update({ status: { ...STATUS, layout: 'spec-kit' } })
    await says('Make a first task with spec-kit, and it appears here.')
    await board.update({ tasks: TASKS, state: { ...LIVE, name: 'stale', reason: 'missing' } })
    await says('The folder of the board is missing.')
    await board.card('LAMP-1').waitFor()
    const { config: _, ...status } = STATUS
    await board.update({ status, state: LIVE })
    await says('The board cannot be read whole: its configuration is missing.')
  })
})
