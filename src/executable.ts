/**
 * The first module of the executable, in its main thread and in each other: loads the built modules,
 * which are assets in it, as if its file were their directory.
 */
import { createRequire, registerHooks } from 'node:module'
import { getAsset } from 'node:sea'
import { isMainThread, threadName } from 'node:worker_threads'
import { executableRoot } from './program-files.ts'

const root = executableRoot()

registerHooks({
  resolve(specifier, context, next) {
    const within = specifier.startsWith('.') ? context.parentURL : specifier
    if (!within?.startsWith(root)) return next(specifier, context)
    return { url: new URL(specifier, within).href, format: 'module', shortCircuit: true }
  },
  load(url, context, next) {
    if (!url.startsWith(root)) return next(url, context)
    const source = getAsset(url.slice(root.length), 'utf8')
    return { format: 'module', source, shortCircuit: true }
  },
})

// Only what is required passes the hooks: an executable's own imports know built-in modules alone.
createRequire(root)(`${root}${isMainThread ? 'main' : threadName}.js`)
