// The first page that somebody reads.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Two lines have so many. */
const MAX_CHARS = 280
const TABLE = /\(docs\/performance\.md#[\w-]+\)/

const readme = readFileSync('README.md', 'utf8')
const [firstScreen = ''] = readme.split('\n## Start\n')
const [, numbers = ''] = readme.split('\n## In numbers\n')

/** As it is shown: without code blocks, tables, and the targets of links. */
const sentencesOf = (page: string): string[] =>
  page
    .replaceAll(/^```[\s\S]*?^```$/gm, '')
    .split(/\n\n|\n(?=- )/)
    .filter((paragraph) => !/^[|#!]/.test(paragraph.trim()))
    .map((paragraph) => paragraph.replaceAll(/\]\([^)]*\)/g, ']').replaceAll('\n', ' '))
    .flatMap((paragraph) => paragraph.split(/(?<=[.?!]\)?) /))

const itemsOf = (text: string): string[] => text.match(/^- (?:.|\n {2})*/gm) ?? []

describe('the README', () => {
  it('says what it is, shows it, starts it and promises three things, in this order', () => {
    const parts = [/^# Signalbox\n\n.*\.\n/, /\n!\[/, /\n```sh\nnpm ci .*\n```/, /\n- /]
    const places = parts.map((part) => firstScreen.search(part))
    expect(places).not.toContain(-1)
    expect(places.toSorted((a, b) => a - b)).toEqual(places)
    expect(itemsOf(firstScreen)).toHaveLength(3)
  })

  it('has no figure without its table', () => {
    const items = [...itemsOf(firstScreen), ...itemsOf(numbers.split('\n## ')[0] ?? '')]
    expect(items.filter((item) => !TABLE.test(item))).toEqual([])
  })

  it('has no sentence of more than two lines', () => {
    expect(sentencesOf(readme).filter(({ length }) => length > MAX_CHARS)).toEqual([])
  })
})
