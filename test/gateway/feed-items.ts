/** What a feed shows, as its tests ask for it. */
import type { Answer, TestService } from '../harness.ts'

export type Item = Record<string, unknown>

export const itemsOf = (answer: Answer): Item[] =>
  Object.values(answer.body).find(Array.isArray) ?? []

export const textsIn = async (service: TestService, path: string): Promise<unknown[]> =>
  itemsOf(await service.call('GET', path)).map(({ text }) => text)
