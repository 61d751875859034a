/** Routes paths. `:name` is a parameter of one segment. */
import type { PathParams } from './call.ts'

export interface Found<Target> {
  readonly target: Target
  readonly params: PathParams
}

export interface Router<Target> {
  readonly add: (path: string, target: Target) => void
  readonly find: (path: string) => Found<Target> | undefined
}

const NAMED = /:(\w+)/g

const NO_PARAMS: PathParams = Object.freeze({})

export function createRouter<Target>(): Router<Target> {
  const fixed = new Map<string, Found<Target>>()
  const named: { readonly pattern: RegExp; readonly target: Target }[] = []

  function match(path: string): Found<Target> | undefined {
    for (const { pattern, target } of named) {
      const matched = pattern.exec(path)
      if (matched) return { target, params: matched.groups ?? NO_PARAMS }
    }
    return undefined
  }

  return {
    add(path, target) {
      if (!path.includes(':')) fixed.set(path, { target, params: NO_PARAMS })
      else named.push({ pattern: new RegExp(`^${path.replace(NAMED, '(?<$1>[^/]+)')}$`), target })
    },
    find: (path) => fixed.get(path) ?? match(path),
  }
}
