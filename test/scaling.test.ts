/** docs/scaling.md says of every table what bounds it. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { schemaOf } from '../src/store/schema.ts'

const guide = readFileSync(new URL('../docs/scaling.md', import.meta.url), 'utf8')

const [, growth = ''] = /^## What grows$(.*?)^## /ms.exec(`${guide}\n## `) ?? []

/** The first cell of each row. */
const bounded = [...growth.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) =>
  cell.replaceAll('`', '').split(', '),
)

const tablesOf = (engine: 'sqlite' | 'postgres') =>
  [...schemaOf(engine).matchAll(/CREATE (?:\w+ )?TABLE IF NOT EXISTS (\w+)/g)].map(
    ([, name]) => name,
  )

test('every table of both engines has a bound that is written down, and no other has', () => {
  const tables = new Set([...tablesOf('sqlite'), ...tablesOf('postgres')])
  expect(tables.size).toBeGreaterThan(25)
  expect(bounded.toSorted()).toEqual([...tables].toSorted())
})
