import { BlockList } from 'node:net'
import { describe, expect, test } from 'vitest'
import { loadConfig, settings } from '../src/config.ts'
import { readDocument, section, tableOf } from './readme.ts'

const rows = tableOf(readDocument('docs/configuration.md'))
const defaults = Object.fromEntries(rows.map(([name = '', value = '']) => [name, value]))

const comparable = (value: unknown): unknown =>
  value instanceof BlockList ? value.rules.toSorted() : value

describe('the configuration', () => {
  test('its table has every setting, in the order of the code', () => {
    expect(rows.map(([name]) => name)).toEqual(settings)
    for (const [name, , meaning] of rows) expect(meaning, name).toMatch(/\w/)
  })

  test.each(settings)('its default of %s is the real one', (name) => {
    const real = comparable(loadConfig({})[name as keyof ReturnType<typeof loadConfig>])
    const said = defaults[name] ?? ''
    if (said === '') expect(real ?? []).toEqual([])
    else {
      const config = loadConfig({ [name]: said })
      expect(comparable(config[name as keyof typeof config])).toEqual(real)
      expect([real].flat().join()).toBeTruthy()
    }
  })

  test('the guide to a home for each user names settings by their real defaults', () => {
    const named = tableOf(readDocument('docs/users.md')).flatMap(([names = '', value = '']) =>
      names.split('`, `').map((name) => [name, value]),
    )
    expect(named.length).toBeGreaterThan(5)
    for (const [name = '', value] of named) expect(defaults[name], name).toBe(value)
  })
})

describe('the README', () => {
  test('takes five minutes to read', () => {
    expect(readDocument('README.md').split(/\s+/).length).toBeLessThanOrEqual(1_000)
  })
})

describe('the performance', () => {
  test('its figures are those of the result that it names', () => {
    const figures = section('docs/performance.md', 'How fast')
    const [, path = ''] = /\]\(\.\.\/(bench\/results\/[^)]+)\)/.exec(figures) ?? []
    const measured = readDocument(path).split('\n')
    const table = figures.split('\n').filter((line) => line.startsWith('| '))
    expect(table.length).toBeGreaterThan(3)
    expect(measured).toEqual(expect.arrayContaining(table))
  })
})
