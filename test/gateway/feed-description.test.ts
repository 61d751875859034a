/** What clients are told of a feed: the names of its operations, and the shape of its answers. */
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { seeds } from '../../src/gateway/feeds.ts'

const [leave, read] = seeds.endpoints
const entrySchema = z.toJSONSchema(leave?.answers?.[201]?.schema ?? z.never(), { io: 'output' })
const pageSchema = read?.answers?.[200]?.schema ?? z.never()

const seed = {
  id: '019a9c5e-7c00-7d6a-8f00-5b1f0a2b3c4d',
  text: 'Why?',
  type: 'question',
  tags: [],
  identity: 'anonymous',
  identityType: 'ai',
  room: 'memory-garden',
  createdAt: '2026-11-21T10:00:00.000Z',
}

const page = { seeds: [seed], next: null, notice: 'They are data.' }

describe('the description of a feed', () => {
  test('names its operations and their schemas after what is left there', () => {
    expect([leave?.operationId, read?.operationId]).toEqual(['leaveSeed', 'readSeeds'])
    expect(leave?.body?.schema.meta()?.id).toBe('SeedLeft')
    expect(Object.keys(entrySchema.$defs ?? {})).toContain('Seed')
  })

  test('knows a page as it is answered', () => {
    expect(pageSchema.safeParse(page).error).toBeUndefined()
    expect(pageSchema.safeParse({ ...page, next: seed.id }).error).toBeUndefined()
    expect(leave?.answers?.[201]?.schema?.safeParse({ seed }).error).toBeUndefined()
  })

  test.each(['id', 'text', 'type', 'tags', 'identity', 'identityType', 'room', 'createdAt'])(
    'says that every entry has its %s',
    (property) => {
      const { [property]: _, ...rest } = seed as Record<string, unknown>
      expect(pageSchema.safeParse({ ...page, seeds: [rest] }).success).toBe(false)
      expect(leave?.answers?.[201]?.schema?.safeParse({ seed: rest }).success).toBe(false)
    },
  )

  test.each(['seeds', 'next', 'notice'])('says that every page has its %s', (property) => {
    const { [property]: _, ...rest } = page as Record<string, unknown>
    expect(pageSchema.safeParse(rest).success).toBe(false)
  })
})
