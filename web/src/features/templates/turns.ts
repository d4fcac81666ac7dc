/** turns returns a function that runs tasks in their order, at most so many at a time. A task that is no longer wanted when its turn comes is not begun. */
export function turns(most: number) {
	let free = most;
	const waiting: (() => void)[] = [];
	return async <T>(task: () => Promise<T>, signal?: Pick<AbortSignal, "throwIfAborted">): Promise<T> => {
		if (free > 0) free--;
		else await new Promise<void>((resolve) => waiting.push(resolve));
		try {
			signal?.throwIfAborted();
			return await task();
		} finally {
			const next = waiting.shift();
			if (next) next();
			else free++;
		}
	};
}
