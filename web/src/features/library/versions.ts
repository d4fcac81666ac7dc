import { useQuery } from "@tanstack/react-query";
import { api } from "../../api/client";
import { useKey } from "../../base/session";

/** useVersions reads the versions of a library entry. */
export function useVersions(id: string, enabled: boolean) {
	const key = useKey();
	return useQuery({
		queryKey: key("message", id, "versions"),
		enabled,
		queryFn: ({ signal }) => api("GET /messages/{id}/versions", { path: { id }, signal }),
	});
}
