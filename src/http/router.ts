/** Paths, and who serves them. `:name` stands for one segment. */

export interface Router<Serve> {
  readonly add: (path: string, serve: Serve) => void
  readonly find: (path: string) => Serve | undefined
}

const NAMED = /:\w+/g

export function createRouter<Serve>(): Router<Serve> {
  const fixed = new Map<string, Serve>()
  const named: { pattern: RegExp; serve: Serve }[] = []
  return {
    add(path, serve) {
      if (!path.includes(':')) fixed.set(path, serve)
      else named.push({ pattern: new RegExp(`^${path.replace(NAMED, '[^/]+')}$`), serve })
    },
    find: (path) => fixed.get(path) ?? named.find(({ pattern }) => pattern.test(path))?.serve,
  }
}
