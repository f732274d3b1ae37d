import { expect, it } from 'vitest'
import { statementsOf, stepsOf } from '../../../local/database/scripts.ts'

it('a migration without a marker is one step, and comments are not statements', () => {
  expect(stepsOf('-- A column.\nALTER TABLE a ADD COLUMN b;\n\nUPDATE a\nSET b = 1;\n')).toEqual([
    { statements: ['ALTER TABLE a ADD COLUMN b', 'UPDATE a\nSET b = 1'] },
  ])
})

it('a marker begins a step: one transaction, or one for each number of rows', () => {
  const script = `-- What it is for.
-- step: once
ALTER TABLE a ADD COLUMN b;
-- step: for every 20 rows of a
-- Why.
UPDATE a SET b = 1 WHERE id > :after AND id <= :upto;
`
  expect(stepsOf(script)).toEqual([
    { statements: ['ALTER TABLE a ADD COLUMN b'] },
    {
      statements: ['UPDATE a SET b = 1 WHERE id > :after AND id <= :upto'],
      parts: { table: 'a', rows: 20 },
    },
  ])
})

it('an unknown marker is refused: otherwise it would be a comment', () => {
  expect(() => stepsOf('-- step: for every row of a\nUPDATE a SET b = 1;')).toThrow('not a step')
})

it('two statements on a line are refused: the server would silently ignore one', () => {
  expect(() => statementsOf('CREATE TABLE one (x); CREATE TABLE two (x);')).toThrow(
    'two statements',
  )
})
