/** The schema of each engine is what its `schema.sql` shows, however a database came to it. */
import { afterEach, describe, expect, inject, test } from 'vitest'
import { openStore } from '../../src/store/open.ts'
import { OLDEST, SCHEMA, schemaOf } from '../../src/store/schema.ts'
import { released } from '../fixtures/released.ts'
import { type Engine, engines, type TestDatabase } from '../harness.ts'
import { createTemplate } from '../postgres/databases.ts'
import { unbounded } from '../unbounded.ts'
import { connect, type Rows } from './connected.ts'
import { NOON, newBirth, noLimits } from './fixture.ts'

/** Everything that SQL can create, as the engine itself describes it. */
const DESCRIBED = {
  sqlite: [
    `SELECT t.name AS of, c.* FROM sqlite_schema t, pragma_table_xinfo(t.name) c
     WHERE t.type = 'table' ORDER BY 1, c.cid`,
    `SELECT t.name AS of, f.* FROM sqlite_schema t, pragma_foreign_key_list(t.name) f ORDER BY 1, f.id`,
    `SELECT t.name AS of, i.name, i."unique", i.partial, c.seqno, c.name, c.desc
     FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_xinfo(i.name) c
     WHERE t.type = 'table' ORDER BY 1, 2, 5`,
    `SELECT name, wr, strict FROM pragma_table_list WHERE schema = 'main' ORDER BY 1`,
    `SELECT type, name, tbl_name,
       CASE WHEN type IN ('trigger', 'index') THEN replace(replace(sql, ' ', ''), char(10), '') END
     FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY 1, 2`,
    `SELECT k, v FROM entry_words_config WHERE k <> 'version' ORDER BY 1`,
  ],
  postgres: [
    `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
       pg_get_expr(d.adbin, d.adrelid), a.attcollation, c.reloptions, c.relpersistence,
       CASE c.relkind WHEN 'i' THEN a.attstattarget END
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
       AND NOT a.attisdropped
     LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
     WHERE c.relnamespace = 'public'::REGNAMESPACE ORDER BY 1, a.attnum`,
    `SELECT conrelid::REGCLASS::TEXT, conname, pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'public'::REGNAMESPACE AND contype <> 'n' ORDER BY 1, 2`,
    `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1`,
    `SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::REGNAMESPACE
     ORDER BY 1`,
    'SELECT name FROM gates ORDER BY 1',
  ],
}

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

async function describedOf(engine: Engine, database: TestDatabase): Promise<readonly Rows[]> {
  const { ask, end } = await connect(database)
  const described: Rows[] = []
  for (const sql of DESCRIBED[engine.name as keyof typeof DESCRIBED]) described.push(await ask(sql))
  await end()
  return described
}

async function opened(database: TestDatabase): Promise<TestDatabase> {
  open.push(database.drop)
  await (await openStore(database.url, NOON, unbounded)).close()
  return database
}

describe.each(engines)('on $name', (engine) => {
  test.each(released.filter(({ name }) => name.endsWith(` on ${engine.name}`)))(
    'a database of $name has the schema of a new one, which is that of schema.sql',
    async (release) => {
      const empty =
        engine.name === 'postgres' ? createTemplate(inject('postgresUrl')) : engine.fresh()
      const fresh = await describedOf(engine, await opened(await empty))
      const upgraded = await describedOf(engine, await opened(await release.fresh()))
      expect(fresh.flat().length).toBeGreaterThan(100)
      expect(upgraded).toEqual(fresh)
      for (const [, table] of schemaOf(engine.name as 'sqlite').matchAll(/EXISTS (\w+)/g)) {
        expect(JSON.stringify(fresh)).toContain(`"${table}"`)
      }
    },
  )

  test.each([
    // 2.0.0 wrote 26.
    [25, 25, 'which no release wrote'],
    [SCHEMA + 1, SCHEMA + 1, 'Run the newer program'],
    [SCHEMA, SCHEMA + 1, 'Run the newer program'],
  ])(
    'schema %i for programs from %i on is refused, and left as it is',
    async (version, oldest, sentence) => {
      const database = await opened(await engine.fresh())
      const { ask, end } = await connect(database)
      await ask(`UPDATE schema_version SET version = ${version}, oldest = ${oldest}`)
      await expect(openStore(database.url, NOON, unbounded)).rejects.toThrow(sentence)
      expect(await ask('SELECT version, oldest FROM schema_version')).toEqual([{ version, oldest }])
      await end()
    },
  )

  test('a newer schema that takes nothing away is used, and left as it is', async () => {
    const database = await opened(await engine.fresh())
    const { ask, end } = await connect(database)
    expect(await ask('SELECT version, oldest FROM schema_version')).toEqual([
      { version: SCHEMA, oldest: OLDEST },
    ])
    await ask(`UPDATE schema_version SET version = ${SCHEMA + 2}, oldest = ${SCHEMA}`)
    const store = await openStore(database.url, NOON, unbounded)
    expect(await store.bear(newBirth(), noLimits, NOON)).toEqual({ outcome: 'born' })
    await store.close()
    expect(await ask('SELECT version, oldest FROM schema_version')).toEqual([
      { version: SCHEMA + 2, oldest: SCHEMA },
    ])
    await end()
  })
})
