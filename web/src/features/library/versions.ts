import { useQuery } from "@tanstack/react-query";
import { versionsQuery } from "./queries";

/** useVersions reads the versions of a library entry. */
export function useVersions(id: string, enabled: boolean) {
	return useQuery({ ...versionsQuery(id), enabled });
}
