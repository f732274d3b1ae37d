import { describe, expect, it } from 'vitest'
import { globMatcher, isGlob } from '../../../sidecar/layouts/glob.ts'

describe('a pattern of paths', () => {
  it.each([
    ['*.md', 'todo.md', true],
    ['*.md', 'plan/todo.md', false],
    ['*.md', '.md', false],
    ['*.md', '.todo.md', false],
    ['.*.md', '.todo.md', true],
    ['plan/*', 'plan/.todo', false],
    ['to*do*.md', 'todo.md', true],
    ['t?do.md', 'todo.md', true],
    ['t?do.md', 't/do.md', false],
    ['?todo.md', '.todo.md', false],
    ['**/todo.md', 'todo.md', true],
    ['**/todo.md', 'a/b/todo.md', true],
    ['**/todo.md', 'a/.b/todo.md', false],
    ['**/todo.md', 'a/notodo.md', false],
    ['**', 'a/b/todo.md', true],
    ['a/**', 'a', false],
    ['a/**', 'a/b/c', true],
    ['a/**', 'a/b/.c', false],
    ['**/plan/**/*.md', 'x/plan/y/z/todo.md', true],
    ['**/plan/**/*.md', 'x/plans/todo.md', false],
    ['[a-c]*.md', 'beans.md', true],
    ['[a-c]*.md', 'tea.md', false],
    ['[!a-c]*.md', 'tea.md', true],
    ['[^a-c]*.md', 'beans.md', false],
    ['a[!b]c', 'a/c', false],
    ['[.]md', '.md', false],
    ['a[b', 'a[b', true],
    ['a[]b', 'a[]b', true],
    ['{todo,plan}.md', 'plan.md', true],
    ['{todo,plan}.md', 'other.md', false],
    ['{a,b/{c,d*}}.md', 'b/dx.md', true],
    ['{*.md,x}', '.md', false],
    ['{a,}b', 'b', true],
    ['{a,b', 'a', false],
    ['a,b}*', 'a,b}c', true],
    ['tea*.md', 'tea☕.md', true],
    ['tea?.md', 'tea☕.md', true],
  ])('%s and %s: %s', (pattern, path, matches) => {
    expect(globMatcher(pattern)(path)).toBe(matches)
  })

  it.each([
    ['todo.md', false],
    ['to{do}.md', false],
    ['to}d,o{.md', false],
    ['to{d,o}.md', true],
    ['{1..3}.md', true],
    ['*.md', true],
    ['[t]odo.md', true],
  ])('%s is one: %s', (pattern, is) => {
    expect(isGlob(pattern)).toBe(is)
  })

  // Both took longer than the world is old: for each star every way to divide the name.
  it.each([
    `${'*a'.repeat(60)}*b`,
    `${'**/'.repeat(60)}b`,
    `${'{*a,*}'.repeat(30)}b`,
    `${'{'.repeat(60)}a${',a}'.repeat(60)}b`,
  ])('that could be tried in many ways ends: %s', (pattern) => {
    expect(globMatcher(pattern)('a'.repeat(255))).toBe(false)
    expect(globMatcher(pattern)('a/'.repeat(127))).toBe(false)
  })

  it('longer than any person writes matches nothing', () => {
    expect(globMatcher('*'.repeat(201))('todo.md')).toBe(false)
  })
})
