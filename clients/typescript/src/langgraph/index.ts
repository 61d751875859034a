/** For LangGraph: checkpoints and a store that are kept in a home. */
export { AgentHomeSaver, type AgentHomeSaverOptions } from './saver.ts'
export { AgentHomeStore, type AgentHomeStoreOptions } from './store/store.ts'
