/** For LangGraph: a store that is kept in a home. */
export { AgentHomeStore, type AgentHomeStoreOptions } from './store/store.ts'
