// What is said to a model where a person gave no words of their own.

export const goOn = 'Please go on.';

export const goOnAfterFailure = 'The last request failed before it was finished. Please go on where it stopped.';

/** After a no without a reason. */
export const plainNo = 'The person said no to this. Do not try it another way; go on without it, or say what you need.';
