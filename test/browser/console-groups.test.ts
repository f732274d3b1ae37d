// The groups of the board in a real browser, over a fake board.

import { describe, expect, it } from 'vitest'
import type { Task } from '../../libraries/client/index.ts'
import { expectAccessible } from '../support/axe.ts'
import { type BoardPage, boardPages } from '../support/board-page.ts'
import { hasChromium, whySkipped } from '../support/chromium.ts'
import { detailOf, FIRST, STATUS, task } from '../support/made-up-board.ts'

const part = (parent: string, number: number, fields: Partial<Task> = {}) =>
  task(`${parent}/${number}`, { parent, ...fields })
const DONE = { status: 'done' }
// biome-ignore format: several tasks a line.
const CHANGES = [
  task('dim', { title: 'Dim the lamp' }), part('dim', 1, DONE), part('dim', 2), part('dim', 3),
  task('pair'), part('pair', 1), task('old', DONE), part('old', 1, DONE), task('alone'),
]

describe.skipIf(!hasChromium)(`the groups of the board in Chromium${whySkipped}`, () => {
  const boards = boardPages()

  const open = async (
    { hash, tasks = CHANGES, layout = 'openspec' as const } = {} as {
      hash?: string
      tasks?: readonly Task[]
      layout?: 'openspec' | 'backlog-md'
    },
  ): Promise<BoardPage> => {
    const board = await boards.open(hash)
    await board.update({ ...FIRST, tasks, status: { ...STATUS, layout } })
    await board.page.locator('.lane, [data-card]').first().waitFor()
    return board
  }
  const group = ({ page }: BoardPage, name: string) => page.getByRole('region', { name })
  const fold = ({ page }: BoardPage, name: string) =>
    page.getByRole('button', { name: `Tasks of ${name}` })
  const isFocused = (board: BoardPage, id: string | undefined) =>
    expect.poll(() => board.focused()).toBe(id)
  const groups = ({ page }: BoardPage) => page.locator('.lane h2').allTextContents()

  it('shows a checklist’s board in groups with their progress, and all else in the last one', async () => {
    const board = await open()
    expect(await groups(board)).toEqual(['Dim the lamp', 'The task pair', 'Other tasks'])
    const dim = group(board, 'Dim the lamp')
    await dim.getByText('1 of 3 done').waitFor()
    const bar = dim.locator('progress')
    expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).toEqual(['1', '3'])
    expect(await dim.getByRole('list', { name: 'Backlog' }).getByRole('listitem').count()).toBe(2)
    expect(await dim.getByRole('list', { name: 'Done' }).getByRole('listitem').count()).toBe(1)
    expect(await board.card('dim').count()).toBe(0)
    expect(await group(board, 'Other tasks').getByRole('listitem').count()).toBe(1)
  })

  it('shows a group’s task by its link, and gives the focus back to it', async () => {
    const board = await open()
    await board.update({ details: { dim: detailOf('dim', { title: 'Dim the lamp' }) } })
    const link = board.page.getByRole('link', { name: 'Dim the lamp', exact: true })
    await link.press('Enter')
    await board.page.getByRole('dialog', { name: 'Dim the lamp' }).waitFor()
    await board.page.keyboard.press('Escape')
    await expect
      .poll(() => board.page.evaluate('document.activeElement?.textContent'))
      .toBe('Dim the lamp')
  })

  it('folds a group, and keeps what is finished folded away until it is asked for', async () => {
    const board = await open()
    const dim = fold(board, 'Dim the lamp')
    expect(await dim.getAttribute('aria-expanded')).toBe('true')
    await dim.press('Enter')
    expect(await dim.getAttribute('aria-expanded')).toBe('false')
    await board.card('dim/2').waitFor({ state: 'detached' })
    await group(board, 'Dim the lamp').getByText('1 of 3 done').waitFor()

    const finished = board.page.getByRole('button', { name: '1 finished group' })
    expect(await finished.getAttribute('aria-expanded')).toBe('false')
    await finished.click()
    await fold(board, 'The task old').click()
    await board.card('old/1').waitFor()
  })

  it('remembers in the address that groups are not wanted, and keeps that without filters', async () => {
    const board = await open()
    const button = board.page.getByRole('button', { name: 'Groups' })
    expect(await button.getAttribute('aria-pressed')).toBe('true')
    await button.click()
    await board.card('dim').waitFor()
    expect(await board.page.locator('.lane').count()).toBe(0)
    await expect.poll(() => board.page.url()).toContain('groups=off')
    await board.page.getByRole('searchbox').fill('lamp')
    await board.page.getByRole('button', { name: 'Clear filters' }).click()
    await expect.poll(() => board.page.url()).toMatch(/\?groups=off$/)

    const again = await open({ hash: '#/board?groups=off' })
    await again.page.getByRole('button', { name: 'Groups' }).click()
    await fold(again, 'Dim the lamp').waitFor()
    expect(again.page.url()).not.toContain('groups')
  })

  it('shows other boards in groups when asked, and offers none where nothing is part of a task', async () => {
    const board = await open({ layout: 'backlog-md' })
    await board.card('dim').waitFor()
    await board.page.getByRole('button', { name: 'Groups' }).click()
    await fold(board, 'Dim the lamp').waitFor()
    await expect.poll(() => board.page.url()).toContain('groups=on')
    await board.update({ tasks: [task('alone')] })
    await board.page.locator('.lane').first().waitFor({ state: 'detached' })
    await board.card('alone').waitFor()
    expect(await board.page.getByRole('button', { name: 'Groups' }).count()).toBe(0)
  })

  it('shows the groups with matches while filtering, with the progress of all their tasks', async () => {
    const board = await open()
    const search = board.page.getByRole('searchbox')
    await search.fill('dim/3')
    await board.page.getByText('1 of 9 tasks').waitFor()
    expect(await groups(board)).toEqual(['Dim the lamp'])
    await group(board, 'Dim the lamp').getByText('1 of 3 done').waitFor()
    // What is finished is found, too.
    await search.fill('old/1')
    await board.card('old/1').waitFor()
    // The task of a group matches alone.
    await search.fill('lamp')
    await expect.poll(() => groups(board)).toEqual(['Dim the lamp'])
    expect(await board.page.locator('[data-card]').count()).toBe(0)
    await search.fill('nowhere')
    await board.page.getByRole('heading', { name: 'No task matches.' }).waitFor()
  })

  it('moves by arrow keys within a group and on to the next one that is open', async () => {
    const board = await open({ tasks: [...CHANGES, task('zoom'), part('zoom', 1)] })
    const { keyboard } = board.page
    await fold(board, 'The task pair').click()
    await board.card('dim/2').getByRole('link').focus()
    // biome-ignore format: several steps a line.
    const steps = [
      ['ArrowDown', 'dim/3'], ['ArrowDown', 'zoom/1'], ['ArrowUp', 'dim/3'],
      ['ArrowRight', 'dim/1'], ['ArrowLeft', 'dim/2'], ['End', 'alone'], ['Home', 'dim/2'],
    ] as const
    for (const [key, id] of steps) {
      await keyboard.press(key)
      await isFocused(board, id)
    }
    expect(await board.page.locator('[data-card] a[tabindex="0"]').count()).toBe(1)
  })

  it('leads by End to the last card of the last group, shown or not', async () => {
    const many = Array.from({ length: 25 }, (_, at) => [
      task(`g-${at + 1}`),
      ...Array.from({ length: 21 }, (_, number) => part(`g-${at + 1}`, number + 1)),
    ]).flat()
    const board = await open({ tasks: many })
    await board.card('g-20/20').waitFor()
    await board.card('g-1/2').getByRole('link').focus()
    await board.page.keyboard.press('End')
    await isFocused(board, 'g-25/21')
    await board.page.keyboard.press('Home')
    await isFocused(board, 'g-1/1')
  })

  it('keeps focus and place when a change ends or another one comes', async () => {
    const board = await open()
    const { page } = board
    const tasksWith = (id: string, fields: Partial<Task>) =>
      CHANGES.map((it) => (it.id === id ? { ...it, ...fields } : it))
    await board.card('pair/1').getByRole('link').focus()
    await board.drawn()
    await board.update({ tasks: tasksWith('pair/1', DONE) })
    await group(board, 'The task pair').getByText('1 of 1 done').waitFor()
    await isFocused(board, 'pair/1')
    expect(await board.drawn()).toEqual(['pair/1'])

    // Its last task is done, and then it is itself: it stays where it is.
    const closed = tasksWith('pair/1', DONE).map((it) =>
      it.id === 'pair' ? { ...it, ...DONE } : it,
    )
    await fold(board, 'The task pair').focus()
    await board.update({ tasks: [...closed, task('a'), part('a', 1)] })
    await board.card('a/1').waitFor()
    expect(await groups(board)).toEqual([
      'The task a',
      'Dim the lamp',
      'The task pair',
      'Other tasks',
    ])
    const label = () => page.evaluate<string | null>('document.activeElement?.ariaLabel ?? null')
    expect(await label()).toBe('Tasks of The task pair')
    await board.update({ tasks: closed.filter(({ id }) => !id.startsWith('pair')) })
    await group(board, 'The task pair').waitFor({ state: 'detached' })
    await isFocused(board, 'dim/2')
  })

  it('shows of twenty thousand tasks the first of the first groups, and more when asked', async () => {
    const many = Array.from({ length: 500 }, (_, at) => [
      task(`g-${at + 1}`),
      ...Array.from({ length: 39 }, (_, number) => part(`g-${at + 1}`, number + 1)),
    ]).flat()
    const board = await open({ tasks: many })
    const { page } = board
    await board.card('g-20/20').waitFor()
    expect(await page.locator('.lane').count()).toBe(20)
    expect(await page.locator('[data-card]').count()).toBe(400)
    await board.drawn()
    const top = () => page.evaluate('document.querySelector(".lanes").scrollTop')
    await page.mouse.move(400, 400)
    await page.mouse.wheel(0, 5_000)
    await expect.poll(top).toBeGreaterThan(1_000)
    await page.getByRole('searchbox').fill('g-')
    await expect.poll(top).toBe(0)
    await page.getByRole('searchbox').fill('')
    await page.getByRole('button', { name: 'Show 20 more groups' }).click()
    await fold(board, 'The task g-40').waitFor()
    expect(await page.evaluate('document.activeElement?.ariaLabel')).toBe('Tasks of The task g-21')
    await group(board, 'The task g-1')
      .getByRole('button', { name: /Show 19 more/ })
      .first()
      .click()
    await isFocused(board, 'g-1/21')
    await board.drawn()
    await board.update({
      tasks: many.map((it) => (it.id === 'g-3/7' ? { ...it, title: 'Another' } : it)),
    })
    await page.getByText('Another', { exact: true }).waitFor()
    expect(await board.drawn()).toEqual(['g-3/7'])
  })

  it('brings the card of an opened task into sight, also in a group that is folded or far down', async () => {
    const many = Array.from({ length: 60 }, (_, at) => [
      task(`g-${at + 1}`, at > 30 ? DONE : {}),
      ...Array.from({ length: 39 }, (_, number) =>
        part(`g-${at + 1}`, number + 1, at > 30 ? DONE : {}),
      ),
    ]).flat()
    const board = await open({ tasks: many })
    for (const id of ['g-30/35', 'g-55/35']) {
      await board.update({ details: { [id]: detailOf(id) } })
      await board.page.evaluate(`location.hash = '#/board/${encodeURIComponent(id)}'`)
      await board.page.getByRole('dialog', { name: `The task ${id}` }).waitFor()
      await board.page.keyboard.press('Escape')
      await isFocused(board, id)
      const box = await board.card(id).boundingBox()
      expect(box?.y).toBeGreaterThan(0)
      expect(box?.y).toBeLessThan(700)
    }
  })

  it('has no serious accessibility problem and no width of its own, light, dark and narrow', async () => {
    const board = await open()
    const { page } = board
    await page.getByRole('button', { name: '1 finished group' }).click()
    await expectAccessible(page)
    const inner = await page.evaluate('document.querySelector(".lanes").scrollWidth')
    expect(inner).toBeLessThanOrEqual(390)
    // On a phone, a group’s columns are below each other, without the empty ones.
    const dim = group(board, 'Dim the lamp')
    await dim.getByRole('heading', { name: 'Done' }).waitFor()
    expect(await dim.getByRole('heading', { name: 'In progress' }).isVisible()).toBe(false)
    const [backlog, done] = [
      await board.card('dim/3').boundingBox(),
      await board.card('dim/1').boundingBox(),
    ]
    expect(done?.y).toBeGreaterThan(backlog?.y ?? Infinity)
  })
})
