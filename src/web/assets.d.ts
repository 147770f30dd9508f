// Files that the bundler takes in for their effect alone: they have no value of their own.

declare module '*.css';
